"""The process that keeps members on a Ray cluster (keeper.py), seen from the service."""

import contextlib
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import cardan
from cardan.service.cluster.handover import settings_text
from cardan.service.keys import SECRETS
from cardan.service.settings import Settings, SettingsError

log = logging.getLogger("cardan.cluster")

KEEPER = "cardan.service.cluster.keeper"
JOIN_SECONDS = 60.0
PAUSE_SECONDS = 2.0
MOST_PAUSE_SECONDS = 30.0


class Placement:
    """Starts the process, starts it again when it ends, and knows what it said last."""

    def __init__(self, settings: Settings) -> None:
        """Begin without a process."""
        self._text = settings_text(settings)
        self._grace_s = 6.0 * settings.stop_grace_s
        self._process: subprocess.Popen[str] | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="placement", daemon=True)
        self.joined = False
        self.cores = self.workers = self.members = 0

    def check(self) -> None:
        """Join the cluster and leave it again. Raises SettingsError."""
        process = self._started()
        # one that hangs is killed, and has then said nothing
        timer = threading.Timer(JOIN_SECONDS, process.kill)
        timer.start()
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
        finally:
            timer.cancel()
            self._end(process)
        said = json.loads(line) if line else {"error": f"no answer within {JOIN_SECONDS:.0f} s."}
        if "error" in said:
            raise SettingsError(f"CARDAN_RAY_ADDRESS: {said['error']}")

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Let the members return their runs to the queue; returns at once."""
        self._stopping.set()
        if self._process is not None:
            self._close_input(self._process)

    def stop(self) -> None:
        """End all members and the process."""
        self.ask_to_stop()
        if self._thread.ident is None:
            return
        self._thread.join(self._grace_s)
        if self._thread.is_alive() and self._process is not None:
            log.error("the process that keeps members on the cluster hangs: it is killed")
            self._process.kill()
            self._thread.join()

    def _work(self) -> None:
        pause = 0.0
        while not self._stopping.wait(pause):
            try:
                self._process = self._started()
                self._listen(self._process)
            except OSError as error:
                log.error("no process keeps members on the cluster: %s", error)
            except Exception as error:
                # nothing would be computed any more if the thread ended
                log.error("the process that keeps members is started again", exc_info=error)
            pause = PAUSE_SECONDS if self.joined else min(2.0 * pause + 1.0, MOST_PAUSE_SECONDS)
            self.joined = False
            self.cores = self.workers = self.members = 0

    def _listen(self, process: subprocess.Popen[str]) -> None:
        """Note what it says until it ends."""
        if self._stopping.is_set():
            self._close_input(process)
        assert process.stdout is not None
        for line in process.stdout:
            self._note(json.loads(line))
        self._end(process)
        if not self._stopping.is_set():
            log.error("the process that keeps members on the cluster ended; another one follows")

    def _note(self, said: dict[str, Any]) -> None:
        if "error" in said:
            log.error("runs are not computed: %s", said["error"])
        elif "joined" in said:
            self.joined = True
        else:
            self.cores, self.workers = said["cores"], said["workers"]
            self.members = said["members"]

    def _started(self) -> subprocess.Popen[str]:
        root = str(Path(cardan.__file__).parents[1])
        environ = {name: text for name, text in os.environ.items() if name not in SECRETS}
        path = environ.get("PYTHONPATH")
        environ["PYTHONPATH"] = os.pathsep.join([root, path]) if path else root
        # Ray would tell its makers that it is used
        environ["RAY_USAGE_STATS_ENABLED"] = "0"
        process = subprocess.Popen(
            [sys.executable, "-m", KEEPER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
            start_new_session=True,
        )
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(self._text + "\n")
            process.stdin.flush()
        return process

    def _end(self, process: subprocess.Popen[str]) -> None:
        """Wait for its end, or force it."""
        self._close_input(process)
        try:
            process.wait(self._grace_s)
        except subprocess.TimeoutExpired:
            log.error("the process that keeps members on the cluster does not end: it is killed")
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()

    @staticmethod
    def _close_input(process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
