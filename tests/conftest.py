"""What holds for every test: the machine's own configuration of the service stays outside."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

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

# a busy machine is no failure: examples have no deadline
settings.register_profile("cardan", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("cardan")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to leave out the published friction problems without a word."""
    if not published.is_excused():
        raise pytest.UsageError(f"{published.MISSING}, or to `none` where they cannot be had")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end what could not be tested."""
    if not published.FRICTION.is_dir():
        terminalreporter.section("not tested")
        terminalreporter.line(published.MISSING)
