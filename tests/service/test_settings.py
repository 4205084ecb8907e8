import re

import pytest

from cardan.service.cli.settings_table import page
from cardan.service.keys import parse_key
from cardan.service.settings import Settings, SettingsError, forget_secrets, misspelt
from tests.architecture.sources import python_files, text_of
from tests.service.real_server import ROOT

KEY = "a-key-of-some-length"


def test_variables_are_read_and_given_values_win(tmp_path):
    environ = {
        "CARDAN_PORT": "9000",
        "CARDAN_WORKERS": "3",
        "CARDAN_LIMIT_MAX_BODIES": "7",
        "CARDAN_DATA": str(tmp_path),
    }
    settings = Settings.from_environment(environ, port=9001, host=None)
    assert (settings.port, settings.workers, settings.limits.max_bodies) == (9001, 3, 7)
    assert settings.results == tmp_path / "results"
    assert settings.host == "127.0.0.1"


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"CARDAN_PORT": "high"}, "CARDAN_PORT.*'high'"),
        ({"CARDAN_WORKERS": "0"}, "CARDAN_WORKERS"),
        ({"CARDAN_LIMIT_MAX_STEPS": "many"}, "CARDAN_LIMIT_MAX_STEPS"),
        ({"CARDAN_API_KEY": "short"}, "16 characters"),
        ({"CARDAN_API_KEY_FILE": "/nowhere/keys"}, "CARDAN_API_KEY_FILE"),
    ],
)
def test_what_cannot_be_used_is_named(environ, words):
    with pytest.raises(SettingsError, match=words):
        Settings.from_environment(environ)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("CARDAN_WORKRES", "CARDAN_WORKERS"),
        ("CARDAN_API_KEYS", "CARDAN_API_KEY"),
        ("CARDAN_LIMIT_MAX_BODY", "CARDAN_LIMIT_MAX_BODIES"),
        ("CARDAN_RUN_PER_HOUR", "CARDAN_RUNS_PER_HOUR"),
    ],
)
def test_a_variable_that_is_nearly_a_setting_is_told(wrong, right):
    assert misspelt({wrong: "2", right: "2", "WORKRES": "2"}) == [
        f"{wrong} is no setting: did you mean {right}?"
    ]


def test_variables_for_others_are_no_settings_misspelt():
    texts = [text_of(path) for path in python_files("engine", "service", "tests", "benchmarks")]
    named = {name for text in texts for name in re.findall(r"CARDAN_[A-Z_]*[A-Z]", text)}
    assert {"CARDAN_KERNEL_CACHE", "CARDAN_COMPILER", "CARDAN_URL", "CARDAN_PORT"} <= named
    wrong = {"CARDAN_WORKRES", "CARDAN_API_KEYS", "CARDAN_LIMIT_MAX_BODY", "CARDAN_RUN_PER_HOUR"}
    assert misspelt(dict.fromkeys(named - wrong, "")) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.9.1"])
def test_loopback_is_open(host):
    Settings(host=host).check_exposure()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_beyond_loopback_keys_are_needed(host):
    with pytest.raises(SettingsError, match="CARDAN_API_KEY"):
        Settings(host=host).check_exposure()
    Settings.from_environment({"CARDAN_API_KEY": KEY}, host=host).check_exposure()


def test_ray_needs_what_nodes_share():
    environ = {"CARDAN_EXECUTOR": "ray", "CARDAN_RAY_ADDRESS": "head:6379"}
    alone = Settings.from_environment(environ)
    with pytest.raises(SettingsError, match="CARDAN_DATABASE_URL and CARDAN_RESULTS_URL"):
        alone.check_executor()
    shared = {"CARDAN_DATABASE_URL": "postgresql://h/d", "CARDAN_RESULTS_URL": "s3://b"}
    Settings.from_environment(environ | shared).check_executor()
    Settings().check_executor()


def test_keys_come_from_a_file_too(tmp_path):
    (tmp_path / "keys").write_text(f"{KEY}-1\n{KEY}-2\n")
    environ = {"CARDAN_API_KEY_FILE": str(tmp_path / "keys")}
    keys = Settings.from_environment(environ).api_keys
    assert keys == {parse_key(f"{KEY}-1"), parse_key(f"{KEY}-2")}
    # neither the object nor its text holds a secret
    assert KEY not in repr(keys)


def test_keys_are_forgotten():
    environ = {"CARDAN_API_KEY": KEY, "CARDAN_API_KEY_FILE": "/a", "CARDAN_PORT": "1"}
    forget_secrets(environ)
    assert environ == {"CARDAN_PORT": "1"}


def test_every_setting_is_documented():
    assert (ROOT / "docs/settings.md").read_text() == page()
    for field in Settings.model_fields.values():
        assert field.description
