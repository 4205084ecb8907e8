"""A live session: commands over HTTP, frames over a WebSocket."""

import contextlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from cardan_client.errors import Problem, check_message
from cardan_client.frames import Frame, decode
from cardan_client.results import State, read_state

if TYPE_CHECKING:
    from cardan_client.aio import AsyncClient

PROTOCOL = Subprotocol("cardan.v1")


class AsyncSession:
    """Steers one live run; `async with` ends it."""

    def __init__(self, client: "AsyncClient", info: Mapping[str, Any]) -> None:
        """Belong to a client; `info` is the answer to the request that made the session."""
        self._client = client
        self.info = info
        self.id = str(info["id"])
        self.url = str(info["links"]["self"])

    async def __aenter__(self) -> "AsyncSession":
        """Use the session."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the session."""
        await self.close()

    async def command(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Do any command (set_motor, apply_force, gravity, ...); return its result."""
        order = {"op": op, **arguments}
        result: dict[str, Any] = await self._client.post(f"{self.url}/commands", order)
        return result

    async def take_control(self) -> None:
        """Steer alone, until it is released or 90 s pass without a command.

        Others are refused meanwhile. Raises Problem (control_taken) while another client steers.
        """
        await self.command("take_control")

    async def release_control(self) -> None:
        """Let others steer again."""
        await self.command("release_control")

    async def pause(self) -> None:
        """Stop stepping."""
        await self.command("pause")

    async def resume(self) -> None:
        """Go on stepping."""
        await self.command("resume")

    async def reset(
        self, q: Mapping[str, Any] | None = None, qd: Mapping[str, Any] | None = None
    ) -> None:
        """Go back to the start of the scene, then to q and qd by names of joints."""
        given = {"q": q, "qd": qd}
        await self.command("reset", **{name: dict(of) for name, of in given.items() if of})

    async def step(self, n: int = 1, sample_every: int | None = None) -> dict[str, Any]:
        """Do n steps and pause; with `sample_every` the result has the series."""
        more = {} if sample_every is None else {"sample_every": sample_every}
        return await self.command("step", n=n, **more)

    async def set_motor(self, joint: str, target: float, axis: int = 0) -> None:
        """Change the target of a motor, in the unit of the motor."""
        await self.command("set_motor", joint=joint, target=target, axis=axis)

    async def apply_force(self, body: str, force: Sequence[float], duration: float = 0.0) -> None:
        """Apply a force [N, in W] at the centre of mass for some time [s]; 0: one step."""
        await self.command("apply_force", body=body, force=list(force), duration=duration)

    async def state(self) -> State:
        """Return the complete current state."""
        return read_state(await self._client.get(f"{self.url}/state"))

    async def snapshot(self) -> str:
        """Store the current state; return its id."""
        found = await self._client.post(f"{self.url}:snapshot")
        return str(found["id"])

    async def restore(self, snapshot: str) -> None:
        """Go back to a stored state, bit for bit."""
        await self._client.post(f"{self.url}:restore", {"snapshot": snapshot})

    async def fork(
        self, *, step: int | None = None, time: float | None = None, **options: Any
    ) -> "AsyncSession":
        """Start another session in exactly the state of a past moment; this one is not changed.

        step, or time [s], whose nearest step is taken; neither: now. `options`: name, paused
        (True), speed. It ends by itself, not with this one. Raises Problem.
        """
        given = {"step": step, "time": time}
        asked = {name: value for name, value in given.items() if value is not None}
        made = await self._client.post(f"{self.url}:fork", {**asked, **options})
        return AsyncSession(self._client, made)

    async def frames(
        self, hz: float = 60.0, channels: Sequence[str] = ("poses",), *, quantised: bool = False
    ) -> AsyncIterator[Frame]:
        """Yield frames as they are sent: the newest, when this reader is slower than the run.

        quantised: poses in 12 bytes per body instead of 28, single precision. Positions are then
        wrong by 1/131070 more of the box around all bodies and at most 0.5 mm along each axis,
        rotations by 1.5e-4 rad.

        They end with the session. Raises Problem for what the service refuses, such as a channel
        that does not exist, and `websockets.ConnectionClosedError` when the connection is lost.
        """
        ticket = await self._client.post(f"{self.url}/stream-tickets")
        address = self._client.socket_url + ticket["url"]
        async with connect(
            address,
            subprotocols=[PROTOCOL],
            compression=None,
            max_size=None,
        ) as socket:
            await socket.send(json.dumps({"op": "hello"}))
            wanted: dict[str, dict[str, Any]] = {name: {"hz": hz} for name in channels}
            if quantised and "poses" in wanted:
                wanted["poses"]["encoding"] = "quantised"
            await socket.send(json.dumps({"op": "subscribe", "channels": wanted}))
            async for message in socket:
                if isinstance(message, str):
                    check_message(json.loads(message))
                    continue
                frame = decode(message)
                yield frame
                # whether a connection that ended meanwhile ended in order is told by the loop
                with contextlib.suppress(ConnectionClosed):
                    await socket.send(json.dumps({"op": "ack", "sequence": frame.sequence}))

    async def close(self) -> None:
        """End the session and its process, if it has not ended already."""
        try:
            await self._client.delete(self.url)
        except Problem as refused:
            if refused.code != "session_closed":
                raise
