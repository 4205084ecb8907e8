"""The process that computes the past of a session, one order after another."""

from collections import deque
from collections.abc import Callable
from pathlib import Path

import orjson

from cardan.engine import SceneError, Simulation
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.channel import Channel
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import Stop
from cardan.service.sessions import frames
from cardan.service.sessions.folder import FolderError, KeyFrame, SessionFolder
from cardan.service.sessions.log import CommandLog
from cardan.service.sessions.queries import answer_query
from cardan.service.sessions.replay import Replay, SkippedError, UnknownStepError
from cardan.service.sessions.replay_messages import (
    FRAME_LENGTH,
    ForkAt,
    Found,
    FrameAt,
    FramesAt,
    Message,
    NotFound,
    Order,
    ProblemAt,
    ReplayFolder,
    Skip,
)

MOST_BYTES = 64 * 1024**2
# channels of a recomputed moment, beside the blocks of every frame
CHANNELS = ("friction", "velocities", "reactions")


def main(channel: Channel, _limits: WorkerLimits) -> None:
    """Answer orders until a request to stop, or until the connection closes."""
    opened = channel.receive()
    if isinstance(opened, ReplayFolder):
        Orders(channel, SessionFolder(Path(opened.folder))).serve()


class Orders:
    """The queue of orders; those that are skipped before their turn are not computed."""

    def __init__(self, channel: Channel, folder: SessionFolder) -> None:
        """The simulation is built with the first order."""
        self._channel = channel
        self._folder = folder
        self._replay: Replay | None = None
        self._waiting: deque[Order] = deque()
        self._skipped: set[int] = set()
        self._stopped = False

    def serve(self) -> None:
        """Answer orders in the order of arrival."""
        while not self._stopped:
            self._hear(None if not self._waiting else 0.0)
            if self._waiting:
                order = self._waiting.popleft()
                if order.number not in self._skipped:
                    self._channel.send(self._answer(order))
                # what is skipped after its answer is of no order that waits
                self._skipped.intersection_update(other.number for other in self._waiting)

    def _hear(self, seconds: float | None) -> None:
        message: Message | None = self._channel.receive(seconds)
        while message is not None:
            match message:
                case Skip(number):
                    self._skipped.add(number)
                case Stop():
                    self._stopped = True
                case _:
                    self._waiting.append(message)  # type: ignore[arg-type]
            message = self._channel.receive(0.0)

    def _answer(self, order: Order) -> Found | NotFound:
        def skipped() -> bool:
            self._hear(0.0)
            return self._stopped or order.number in self._skipped

        try:
            if self._replay is None:
                self._replay = Replay(self._folder)
            if isinstance(order, FramesAt):
                return _frames(self._replay, order, skipped)
            self._replay.go_to(order.epoch, order.step, skipped)
            return self._found(self._replay, order)
        except SkippedError:
            detail = "Another step was asked for."
            return NotFound(order.number, ServiceError(ErrorCode.SUPERSEDED, detail).problem)
        except ServiceError as error:
            return NotFound(order.number, error.problem)
        except UnknownStepError as error:
            detail = f"The step cannot be computed again: {error}."
            code = ErrorCode.STEP_OUT_OF_RANGE
        except (FolderError, SceneError, ValueError) as error:
            detail = f"The past of the session cannot be computed: {error}."
            code = ErrorCode.SESSION_UNUSABLE
        except MemoryError:
            self._replay = None
            detail = "The past of the session needs more memory than a worker may use."
            code = ErrorCode.SCENE_TOO_LARGE
        except OSError as error:
            detail = f"The folder of the session cannot be used: {error.strerror or error}."
            code = ErrorCode.STORAGE_FAILED
        return NotFound(order.number, ServiceError(code, detail).problem)

    def _found(self, replay: Replay, order: FrameAt | ForkAt | ProblemAt) -> Found:
        simulation = replay.simulation
        step, at = simulation.step_count, simulation.time
        if isinstance(order, ProblemAt):
            asked = answer_query(simulation, "problem", {})
            return Found(order.number, step, at, orjson.dumps(asked))
        if isinstance(order, ForkAt):
            key = KeyFrame(step, at, order.run, 0, self._forked(simulation, order))
            SessionFolder(Path(order.folder)).write_key(key)
            return Found(order.number, step, at)
        if order.described:
            told = {"epoch": order.epoch, **frames.describe(simulation)}
            return Found(order.number, step, at, orjson.dumps(told))
        phase = "failed" if simulation.failure is not None else "paused"
        shot = frames.Shot(order.epoch, phase, 0.0)
        return Found(order.number, step, at, frames.frame(simulation, shot, CHANNELS))

    def _forked(self, simulation: Simulation, order: ForkAt) -> bytes:
        """The state for another session, in which no viewer of this one has grabbed a body."""
        state = simulation.snapshot()
        if not CommandLog(self._folder.log()).held_at(order.epoch, order.step):
            return state
        simulation.release()
        forked = simulation.snapshot()
        simulation.restore(state)
        return forked


def _frames(replay: Replay, order: FramesAt, skipped: Callable[[], bool]) -> Found:
    simulation = replay.simulation
    shot = frames.Shot(order.epoch, "running", 0.0)
    body = bytearray()
    for step in order.steps:
        replay.go_to(order.epoch, step, skipped)
        data = frames.frame(simulation, shot, order.channels)
        body += FRAME_LENGTH.pack(len(data)) + data
        if len(body) > MOST_BYTES:
            detail = f"The frames up to step {step} have {MOST_BYTES} bytes already, the limit."
            raise ServiceError(ErrorCode.LIMIT_EXCEEDED, f"{detail} Ask for fewer steps.")
    return Found(order.number, simulation.step_count, simulation.time, bytes(body))
