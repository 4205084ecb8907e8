import json

import pytest

from cardan.service.cluster import handover
from cardan.service.cluster.handover import OtherEngineError, read_settings, settings_text
from cardan.service.cluster.keeper import members_for
from cardan.service.settings import Settings

KEY = "a-key-of-some-length"


def test_settings_arrive_without_the_keys_of_clients():
    environ = {
        "CARDAN_API_KEY": KEY,
        "CARDAN_DATABASE_URL": "postgresql://u:word@h/d",
        "CARDAN_RAY_TOKEN": "token",
        "CARDAN_LIMIT_MAX_BODIES": "7",
        "AWS_SECRET_ACCESS_KEY": "something",
    }
    sent = Settings.from_environment(environ)
    text = settings_text(sent)
    assert KEY not in text
    assert next(iter(sent.api_keys)).digest not in text
    assert read_settings(text) == sent.model_copy(update={"api_keys": frozenset()})


def test_another_engine_is_refused(monkeypatch):
    text = settings_text(Settings())
    monkeypatch.setattr(handover, "engine_sum", lambda: "of other sources")
    with pytest.raises(OtherEngineError, match="another version"):
        read_settings(text)


def test_the_sum_of_an_engine_depends_on_what_compiles_it(monkeypatch):
    before = json.loads(settings_text(Settings()))["engine"]
    monkeypatch.setattr(handover, "COMPILERS", ("numba",))
    assert json.loads(settings_text(Settings()))["engine"] != before


@pytest.mark.parametrize(
    ("runs", "workers", "cores", "members"),
    [(0, 8, 1, 0), (3, 8, 1, 3), (100, 8, 1, 8), (1, 8, 4, 1), (5, 8, 4, 2), (100, 7, 4, 1)],
)
def test_members_are_as_many_as_runs_need_and_cores_allow(runs, workers, cores, members):
    assert members_for(runs, workers, cores) == members
