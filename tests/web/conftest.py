"""A real server in a process of its own, and a real browser, for the tests of the page."""

import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests.web.shown import PATIENCE, SIZE, SPY, Shown, end_sessions

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
# loading every kernel may mean compiling every kernel
START_SECONDS = 300
STOP_SECONDS = 20
READY = re.compile(r"Cardan serves at (http://[\w.:\[\]]+)/")
OPEN = re.compile(r"The page opens at (http://[\w.:\[\]]+)/")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOFTWARE_RENDERING = [
    "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
]  # fmt: skip
# WebGL as ever, shaders and all, but nothing is drawn: where software draws, a picture takes a
# third of a second, and every click waits for some
UNPAINTED = """{
  const draws = ["drawArrays", "drawArraysInstanced", "drawElements", "drawElementsInstanced"];
  for (const draw of draws) WebGL2RenderingContext.prototype[draw] = () => {};
}"""
# fifteen frames a second: one without content still takes a processor when it comes sixty times
FEW_FRAMES = """{
  const ask = window.requestAnimationFrame.bind(window), waiting = new Set();
  window.requestAnimationFrame = (draw) => {
    const id = window.setTimeout(() => ask((now) => waiting.delete(id) && draw(now)), 50);
    waiting.add(id);
    return id;
  };
  window.cancelAnimationFrame = (id) => { waiting.delete(id); };
}"""


@pytest.fixture(scope="session")
def node() -> str:
    """The path of Node.js."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node.js is not installed; the modules of the page are not tried without it")
    return found


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium: CARDAN_CHROMIUM, else the first one on the PATH."""
    names = [os.environ["CARDAN_CHROMIUM"]] if "CARDAN_CHROMIUM" in os.environ else BROWSERS
    for name in names:
        found = shutil.which(name)
        if found is not None:
            return found
    pytest.skip(f"no browser: none of {', '.join(names)} is on the PATH")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service started for these tests, without a slash at the end."""
    with serving(tmp_path_factory.mktemp("data")) as address:
        yield address


@pytest.fixture(autouse=True)
def nothing_goes_on(request: pytest.FixtureRequest) -> Iterator[None]:
    """Ends what a test has left running on the shared service: every visit begins a session."""
    yield
    server = request.node.funcargs.get("server")
    if server is not None:
        end_sessions(server)


@contextmanager
def serving(
    data: Path, port: int = 0, when: re.Pattern[str] = READY, **settings: str
) -> Iterator[str]:
    """A service in a process of its own, with variables CARDAN_*; its address, as soon as told."""
    command = [sys.executable, "-u", "-m", "cardan.service.cli", "serve", "--port", str(port)]
    variables = {f"CARDAN_{name.upper()}": value for name, value in settings.items()}
    process = subprocess.Popen(
        [*command, "--data", str(data)],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    lines: queue.Queue[str | None] = queue.Queue()
    reader = threading.Thread(target=_pass_on, args=(process.stdout, lines), daemon=True)
    reader.start()
    try:
        yield _address(lines, when)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join(STOP_SECONDS)
        process.stdout.close()


def _pass_on(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def _address(lines: queue.Queue[str | None], when: re.Pattern[str]) -> str:
    told: list[str] = []
    while True:
        try:
            line = lines.get(timeout=START_SECONDS)
        except queue.Empty:
            pytest.fail(f"no address within {START_SECONDS} s; the server said:\n{''.join(told)}")
        if line is None:
            pytest.fail(f"the server ended at once; it said:\n{''.join(told)}")
        told.append(line)
        found = when.search(line)
        if found:
            return found.group(1)


@pytest.fixture(scope="module")
def playwright() -> Iterator[Any]:
    """Playwright, for one file: while it runs, its event loop belongs to this thread."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    api.expect.set_options(timeout=PATIENCE)
    with api.sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(playwright: Any, chromium: str) -> Iterator[Any]:
    started = playwright.chromium.launch(executable_path=chromium, args=SOFTWARE_RENDERING)
    yield started
    started.close()


def new_context(
    browser: Any, scripts: Sequence[str] = (UNPAINTED, FEW_FRAMES), **options: Any
) -> Any:
    """A context of the browser; its view stays empty, and has few frames, unless told otherwise."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    for script in scripts:
        context.add_init_script(script)
    return context


@pytest.fixture(scope="module")
def contexts(browser: Any) -> Iterator[Callable[..., Any]]:
    """The context of a browser that tests of one file share: modules of the page are compiled once.

    Its argument says whether what is drawn is there.
    """
    made: dict[bool, Any] = {}

    def context(painted: bool) -> Any:
        if painted not in made:
            more = {"scripts": ()} if painted else {}
            made[painted] = new_context(browser, **more, viewport=SIZE, color_scheme="dark")
        return made[painted]

    yield context
    for one in made.values():
        one.close()


@pytest.fixture
def tab(contexts: Callable[..., Any], request: pytest.FixtureRequest) -> Iterator[Any]:
    """An empty tab; what it draws is there for tests with the mark `painted` only.

    It finds nothing that a test before has kept in the browser, save files that never change.
    """
    context = contexts(painted=request.node.get_closest_marker("painted") is not None)
    context.set_offline(False)
    tab = context.new_page()
    cleaner = context.new_cdp_session(tab)
    cleaner.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    cleaner.detach()
    tab.set_default_timeout(PATIENCE)
    tab.add_init_script(SPY)
    yield tab
    for one in context.pages:
        one.close()


@pytest.fixture
def page(tab: Any) -> Iterator[Any]:
    """An empty tab; the test fails when the page wrote an error to the console."""
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda text: errors.append(text.text) if text.type == "error" else None)
    yield tab
    assert errors == []


@pytest.fixture
def shown(page: Any, server: str) -> Iterator[Shown]:
    made = Shown(page, server)
    yield made
    made.close()
