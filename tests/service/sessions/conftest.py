"""A real server with real workers, and a client that speaks `cardan.v1`."""

import asyncio
import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import uvicorn
from anyio import to_thread
from fastapi import FastAPI
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from cardan.schemas.frame import Frame, decode_frame
from cardan.service.api import problems, queries, session_history, sessions, stream
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.services import Services
from cardan.service.sessions.registry import SessionOptions, Sessions
from cardan.service.settings import Settings

PATIENCE = 120.0

SCENE: dict[str, Any] = {
    "version": 1,
    "name": "bench",
    "simulation": {"dt": 0.001, "duration": 600.0},
    "bodies": [
        {
            "name": "floor",
            "type": "static",
            "shapes": [{"type": "plane", "normal": [0, 0, 1], "offset": 0}],
        },
        {
            "name": "box",
            "position": [0, 0, 0.1],
            "mass": 1.0,
            "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}],
        },
        {
            "name": "rod",
            "position": [2.25, 0, 2],
            "mass": 1.0,
            "shapes": [{"type": "box", "size": [0.5, 0.02, 0.02]}],
        },
    ],
    "joints": [
        {
            "name": "pivot",
            "type": "hinge",
            "parent": "world",
            "child": "rod",
            "anchor": [2, 0, 2],
            "axis": [0, 1, 0],
            "motor": {"type": "velocity", "target": 0.0, "max_force": 50.0},
        }
    ],
}
FLOOR, BOX, ROD = 0, 1, 2


def bouncing(restitution: float, height: float) -> dict[str, Any]:
    """A ball of radius 0.1 m that is let go with its centre at a height [m] over the floor."""
    return {
        "version": 1,
        "simulation": {"dt": 0.001, "duration": 600.0},
        "materials": {"rubber": {"restitution": restitution}},
        "bodies": [
            {
                "name": "floor",
                "type": "static",
                "shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "rubber"}],
            },
            {
                "name": "ball",
                "position": [0, 0, height],
                "mass": 1.0,
                "shapes": [{"type": "sphere", "radius": 0.1, "material": "rubber"}],
            },
        ],
    }


def wait_until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """The first true answer of `condition`; fails when there is none in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.005)
    raise AssertionError(f"not within {seconds} s: {what}")


class Watcher:
    """A viewer that acknowledges every frame it reads."""

    def __init__(self, socket: ClientConnection, client_id: str, resume: Any = None) -> None:
        self.socket = socket
        self.frames: list[Frame] = []
        self.messages: list[dict[str, Any]] = []
        self.acknowledging = True
        self._ids = itertools.count()
        hello = {"op": "hello", "client_id": client_id}
        self.send(hello | ({"resume": resume} if resume else {}))
        self.welcome = self.message(op="welcome")

    def send(self, message: dict[str, Any]) -> None:
        self.socket.send(orjson.dumps(message).decode())

    def read(self, seconds: float = PATIENCE) -> None:
        """Take the next message of the server."""
        data = self.socket.recv(timeout=seconds)
        if isinstance(data, str):
            self.messages.append(orjson.loads(data))
            return
        frame = decode_frame(data)
        self.frames.append(frame)
        if self.acknowledging:
            self.send({"op": "ack", "sequence": frame.header.sequence})

    def message(self, after: int = 0, **wanted: Any) -> dict[str, Any]:
        """The first message from number `after` on that has these values."""
        end = time.monotonic() + PATIENCE
        while True:
            for message in self.messages[after:]:
                if all(message.get(key) == value for key, value in wanted.items()):
                    return message
            assert time.monotonic() < end, f"no message with {wanted}"
            self.read()

    def view(self, suits: Callable[[Frame], bool]) -> Frame:
        """The newest frame if it suits, else the next one that does."""
        if self.frames and suits(self.frames[-1]):
            return self.frames[-1]
        return self.frame(suits)

    def frame(self, suits: Callable[[Frame], bool]) -> Frame:
        """The next frame that suits."""
        end = time.monotonic() + PATIENCE
        while True:
            seen = len(self.frames)
            while len(self.frames) == seen:
                assert time.monotonic() < end, "no such frame"
                self.read()
            if suits(self.frames[-1]):
                return self.frames[-1]

    def do(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        name = f"c{next(self._ids)}"
        self.send({"op": op, "id": name, **arguments})
        return self.message(id=name)

    def subscribe(self, **channels: Any) -> None:
        self.do("subscribe", channels=channels or {"poses": {}})


class Service:
    """The server's address, its sessions, and shorthands."""

    def __init__(self, app: FastAPI, port: int) -> None:
        self.app = app
        self.port = port
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}/v1", timeout=60.0)

    @property
    def sessions(self) -> Sessions:
        found: Sessions = self.app.state.sessions
        return found

    def create(self, scene: Any = None, **more: Any) -> str:
        answer = self.http.post("/sessions", json={"scene": scene or SCENE, **more})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def state(self, session: str) -> dict[str, Any]:
        found: dict[str, Any] = self.http.get(f"/sessions/{session}").json()
        return found

    def wait_for_state(self, session: str, wanted: str) -> dict[str, Any]:
        def arrived() -> dict[str, Any] | None:
            found = self.state(session)
            return found if found["state"] == wanted else None

        found: dict[str, Any] = wait_until(arrived, f"state {wanted}")
        return found

    def pid(self, session: str) -> int:
        found = self.sessions.get(session).worker_pid
        assert found is not None
        return found

    def url(self, session: str) -> str:
        return f"ws://127.0.0.1:{self.port}/v1/sessions/{session}/stream"

    @contextmanager
    def watch(self, session: str, client_id: str = "test", **more: Any) -> Iterator[Watcher]:
        resume = more.pop("resume", None)
        # a test that leaves more unread than the queue holds reads no answer to its close either
        options = {"compression": None, "close_timeout": 1.0, **more}
        protocol = [Subprotocol("cardan.v1")]
        with connect(self.url(session), subprotocols=protocol, **options) as socket:
            yield Watcher(socket, client_id, resume)


@contextmanager
def serving(data: Path, **options: Any) -> Iterator[Service]:
    """Run the routes of the sessions in a thread, over a real socket."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> Any:
        settings = Settings(data=data, workers=1)
        app.state.sessions = Sessions(data / "sessions", SessionOptions(**options))
        app.state.settings = settings
        app.state.services = Services(settings, WorkerLauncher())
        await app.state.sessions.start()
        await to_thread.run_sync(app.state.services.start, asyncio.get_running_loop())
        yield
        await app.state.sessions.close()
        await to_thread.run_sync(app.state.services.close)

    app = FastAPI(lifespan=lifespan)
    problems.install(app)
    app.include_router(sessions.router, prefix="/v1")
    app.include_router(session_history.router, prefix="/v1")
    app.include_router(queries.router, prefix="/v1")
    app.include_router(stream.router, prefix="/v1")
    config = uvicorn.Config(
        app, log_level="warning", ws="websockets-sansio", ws_per_message_deflate=False
    )
    server = uvicorn.Server(config)
    # named as TCP, as uvicorn's own: else asyncio leaves Nagle's algorithm on, 40 ms per answer
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            wait_until(lambda: server.started, "the server listens")
            service = Service(app, port)
            wait_until(lambda: service.sessions.ready, "the kernels are loaded", 300)
            with service.http:
                yield service
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def session(service: Service) -> Iterator[str]:
    name = service.create()
    yield name
    with suppress(httpx.HTTPError):
        service.http.delete(f"/sessions/{name}")
