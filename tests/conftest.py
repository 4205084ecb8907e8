"""What holds for every test: the machine's own configuration of the service stays outside."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from cardan.service.settings import PREFIX, Settings
from tests import published

CONFIGURATION = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
CONFIGURATION |= {"CARDAN_API_KEY", "CARDAN_API_KEY_FILE"}

for name in list(os.environ):
    if name in CONFIGURATION or name.startswith(f"{PREFIX}LIMIT_"):
        del os.environ[name]

# processes that tests start import the package of this checkout, whatever is installed
ROOT = Path(__file__).resolve().parents[1]
FOUND_FIRST = [str(ROOT / ".package"), str(ROOT)]
os.environ["PYTHONPATH"] = os.pathsep.join(
    [*FOUND_FIRST, *filter(None, [os.environ.get("PYTHONPATH")])]
)

MANUAL = "tests/manual/"
# a test with a server or a browser lasts as long as so many others
LONG = 50

# a busy machine is no failure: examples have no deadline
settings.register_profile("cardan", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("cardan")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to leave out the published friction problems without a word."""
    if not published.is_excused():
        raise pytest.UsageError(f"{published.MISSING}, or to `none` where they cannot be had")


class Schedule(LoadFileScheduling):  # type: ignore[misc]
    """Files go to workers whole, in the order of the collection; the manual is built by one."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return MANUAL if file.startswith(MANUAL) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Share files out by `Schedule` where files are what is shared out."""
    return Schedule(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give workers the longest files first: what is left at the end is short, for all of them."""
    if not hasattr(config, "workerinput"):
        return
    cost: Counter[Path] = Counter()
    for item in items:
        is_long = item.get_closest_marker("e2e") or item.get_closest_marker("slow")
        cost[item.path] += LONG if is_long else 1
    items.sort(key=lambda item: -cost[item.path])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end what could not be tested."""
    if not published.FRICTION.is_dir():
        terminalreporter.section("not tested")
        terminalreporter.line(published.MISSING)
