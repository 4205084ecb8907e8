"""A session whose worker is played by a test, which decides what it says and when."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cardan.service import clock
from cardan.service.processes.channel import Channel
from cardan.service.processes.worker import Worker
from cardan.service.sessions.folder import About, SessionFolder
from cardan.service.sessions.live_session import LiveSession
from cardan.service.sessions.messages import Command, Message, Ready, Result, Start, Status
from cardan.service.sessions.metering import NoMeter
from cardan.service.sessions.plan import Policy
from cardan.service.sessions.supervisor import Watch
from cardan.service.streams.viewer import Viewer

PATIENCE = 10.0
POLICY = Policy(Watch(grace=0.01), 5, 2**20, 2**20, NoMeter())


class Nobody:
    """Stands for the process of a worker."""

    pid = exitcode = 0

    def is_alive(self) -> bool:
        return False

    def join(self, _seconds: float = 0.0) -> None:
        pass

    kill = terminate = join


class Puppet:
    """The far end of a session's worker; the newest, where one was lost."""

    def __init__(self) -> None:
        self.channels: list[Channel] = []

    def start(self) -> Worker:
        ours, theirs = socket.socketpair()
        self.channels.append(Channel(theirs))
        process: Any = Nobody()
        return Worker(process, ours)

    def close(self) -> None:
        for channel in self.channels:
            channel.close()

    def say(self, *said: Message) -> None:
        for message in said:
            self.channels[-1].send(message)

    async def hear(self, kind: type[Message]) -> Any:
        """The next message of a kind."""
        while True:
            message = await asyncio.to_thread(self.channels[-1].receive, PATIENCE)
            assert message is not None, f"no {kind.__name__} within {PATIENCE:g} s"
            if isinstance(message, kind):
                return message

    async def begin(self, phase: str = "paused") -> None:
        """Take the task of a session, and be there."""
        while not self.channels:
            await asyncio.sleep(0.001)
        await self.hear(Start)
        self.ready(phase)

    def ready(self, phase: str = "paused") -> None:
        """Say that the scene is built."""
        self.say(Ready(["box"], [], 0.001, 1000, 0.1), Status(phase, 0, 0, 0, 0.0, 1.0, None))

    async def answer(self, op: str, problem: dict[str, Any] | None = None) -> None:
        """Take the next command, which is this one, and answer it."""
        command = await self.hear(Command)
        assert command.op == op
        self.say(Result(command.number, 0, 0, 0.0, None, problem))


@asynccontextmanager
async def playing(puppet: Puppet, session: LiveSession) -> AsyncIterator[None]:
    """A session that ends with the block, and its worker with it."""
    try:
        async with asyncio.timeout(3 * PATIENCE):
            yield
    finally:
        await session.close("the test is over")
        puppet.close()


def session_in(path: Path, puppet: Puppet, policy: Policy = POLICY) -> LiveSession:
    """A session that has not begun."""
    folder, about = SessionFolder(path), About("ses_1", "puppet", 0.0)
    folder.create("{}")
    folder.write_about(about)
    return LiveSession(folder, about, policy, puppet.start)


def viewer_of(session: LiveSession, client_id: str) -> Viewer:
    """A viewer that has joined."""
    viewer = Viewer(client_id, clock.monotonic)
    session.join(viewer)
    return viewer
