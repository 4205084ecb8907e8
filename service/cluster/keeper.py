"""The process that joins a Ray cluster and keeps members on it, as many as the queue has work for.

`python -m cardan.service.cluster.keeper` reads settings from standard input and writes lines of
JSON about the cluster; it ends when its input ends. It is a process of its own because Ray ends the
process that joined it when its control process is gone for long, and a service has to go on.
"""

import contextlib
import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TextIO

from sqlalchemy.exc import SQLAlchemyError

from cardan.service import clock, logs
from cardan.service.cluster.handover import read_settings, settings_text
from cardan.service.cluster.member import Member
from cardan.service.parts import open_database_of
from cardan.service.settings import Settings, SettingsError
from cardan.service.simulations.rows import count_open

log = logging.getLogger("cardan.cluster")

LOOK_SECONDS = 0.5
IDLE_SECONDS = 60.0
PAUSE_SECONDS = 5.0
PROBE_SECONDS = 5.0

Say = Callable[..., None]


class ClusterError(Exception):
    """The cluster cannot be used; the text says why."""


@dataclass(eq=False)
class Kept:
    """An actor, and the question that it has not answered yet.

    Its last answer says for how long it had no run [s]; none: Ray has not placed it yet.
    """

    actor: Any
    asked: Any
    idle_s: float | None = None


class Keeper:
    """Starts actors while runs wait, and ends those without work."""

    def __init__(self, ray: Any, settings: Settings, say: Say) -> None:
        """Keep members of a joined cluster. Raises SettingsError."""
        self._ray = ray
        self._settings = settings
        self._say = say
        self._engine = open_database_of(settings)
        self._text = settings_text(settings.model_copy(update={"ray_token": None}))
        cores = settings.ray_cores
        self._class = ray.remote(num_cpus=cores, max_restarts=-1)(Member)
        self._kept: list[Kept] = []
        self._not_before = 0.0
        self._all_wanted = clock.monotonic()

    def work(self, stopping: threading.Event) -> None:
        """Look at queue and cluster until it is over; then end all members."""
        while not stopping.wait(LOOK_SECONDS):
            try:
                self._look()
            except (SQLAlchemyError, self._ray.exceptions.RayError) as error:
                log.error("members are left as they are: %s", error)
        self._hear()
        self._end(self._kept)
        self._engine.dispose()

    def _look(self) -> None:
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        most = self._settings.ray_workers or cores
        with self._engine.connect() as connection:
            runs = count_open(connection, most)
        wanted = members_for(runs, most, self._settings.ray_cores)
        self._hear()
        if clock.monotonic() >= self._not_before:
            while len(self._kept) < wanted:
                self._start(most)
        self._end_idle(len(self._kept) - wanted)
        self._say(cores=cores, workers=most, members=len(self._kept))

    def _start(self, workers: int) -> None:
        actor = self._class.remote(self._text, workers)
        self._kept.append(Kept(actor, actor.idle_s.remote()))

    def _hear(self) -> None:
        """Note for how long members have been idle; forget those that are gone for good."""
        asked = [kept.asked for kept in self._kept]
        if not asked:
            return
        answered, _ = self._ray.wait(asked, num_returns=len(asked), timeout=0)
        for kept in list(self._kept):
            if kept.asked not in answered:
                continue
            try:
                kept.idle_s = self._ray.get(kept.asked)
            except self._ray.exceptions.ActorUnavailableError:
                # Ray starts it anew, on another node if it has to
                kept.idle_s = None
            except self._ray.exceptions.RayError as error:
                log.error("a member is gone: %s", error)
                self._not_before = clock.monotonic() + PAUSE_SECONDS
                self._kept.remove(kept)
                self._ray.kill(kept.actor)
                continue
            kept.asked = kept.actor.idle_s.remote()

    def _end_idle(self, most: int) -> None:
        """End at most so many that nobody has needed for a while, placed or not."""
        now = clock.monotonic()
        if most <= 0:
            self._all_wanted = now
            return
        unneeded_s = now - self._all_wanted
        idle = [
            kept
            for kept in self._kept
            if (unneeded_s if kept.idle_s is None else kept.idle_s) > IDLE_SECONDS
        ][:most]
        self._end(idle)
        self._kept = [kept for kept in self._kept if kept not in idle]

    def _end(self, ending: list[Kept]) -> None:
        """Let members return their runs to the queue, and end them."""
        stops = [kept.actor.stop.remote() for kept in ending if kept.idle_s is not None]
        if stops:
            # a slot stops its worker within a grace, and the dispatcher waits for three
            grace_s = 4.0 * self._settings.stop_grace_s
            self._ray.wait(stops, num_returns=len(stops), timeout=grace_s)
        for kept in ending:
            self._ray.kill(kept.actor)


def members_for(runs: int, workers: int, cores: int) -> int:
    """How many members of so many cores compute runs with at most so many workers.

    >>> [members_for(runs, 8, 4) for runs in (0, 1, 5, 100)]
    [0, 1, 2, 2]
    """
    return min(-(-runs // cores), workers // cores)


def join(settings: Settings) -> Any:
    """Join the cluster; the module of Ray. Raises ClusterError."""
    if settings.ray_token is not None:
        # read when Ray is imported
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = settings.ray_token.get_secret_value()
    try:
        import ray
    except ModuleNotFoundError as error:
        raise ClusterError(
            f"{error.name} is not installed; it comes with: pip install 'cardan[cluster]'."
        ) from error
    address = str(settings.ray_address)
    _probe(address)
    try:
        ray.init(address=address, namespace="cardan", log_to_driver=False, logging_level="ERROR")
    except Exception as error:
        # what it raises is not documented, and differs between kinds of addresses
        raise ClusterError(f"the cluster at {address} cannot be joined: {error}") from error
    return ray


def _probe(address: str) -> None:
    """Say at once that nothing listens; Ray would try for long. Raises ClusterError."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()):
        raise ClusterError(f"it must be HOST:PORT or ray://HOST:PORT, not {address}.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), PROBE_SECONDS).close()
    except OSError as error:
        raise ClusterError(
            f"no cluster answers at {address}: {error.strerror or error}. `ray start --head` "
            "starts one."
        ) from error


def main() -> None:
    """Join, and keep members until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(os.dup(1), "w", buffering=1) as answers:
        # whatever else is printed here is for the log
        os.dup2(2, 1)
        _keep(sys.stdin, answers)


def _keep(given: TextIO, answers: TextIO) -> None:
    said: dict[str, Any] = {}

    def say(**values: Any) -> None:
        if values != said:
            said.update(values)
            with contextlib.suppress(BrokenPipeError):
                answers.write(json.dumps(values) + "\n")

    settings = read_settings(given.readline())
    logs.set_up(settings.log_level, settings.log_format)
    try:
        ray = join(settings)
        keeper = Keeper(ray, settings, say)
    except (ClusterError, SettingsError) as error:
        say(error=str(error))
        return
    stopping = threading.Event()

    def wait_for_end() -> None:
        given.read()
        stopping.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    say(joined=True)
    keeper.work(stopping)
    ray.shutdown()


if __name__ == "__main__":
    main()
