"""`cardan serve` as a real process with an empty data folder."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType

SERVES = "Cardan serves at http://"
STOP_S = 60.0


@dataclass(frozen=True)
class Server:
    """A running server: where it is, and how long it took until work could start."""

    address: str
    ready_s: float
    pid: int = 0

    @property
    def http(self) -> str:
        """Base of HTTP requests."""
        return f"http://{self.address}"

    @property
    def sockets(self) -> str:
        """Base of WebSockets."""
        return f"ws://{self.address}"


@contextmanager
def serving(environ: Mapping[str, str] = MappingProxyType({})) -> Iterator[Server]:
    """A server with variables for the time of a block. Raises RuntimeError if none starts."""
    with tempfile.TemporaryDirectory(prefix="cardan-data-") as data:
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "cardan.service.cli", "serve", "--port", "0", "--data", data],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=_environment() | dict(environ),
        )
        try:
            assert process.stdout is not None
            line = next((one for one in process.stdout if SERVES in one), "")
            if not line:
                raise RuntimeError("the server ended before it was ready")
            address = line.partition(SERVES)[2].partition("/")[0]
            yield Server(address, time.perf_counter() - began, process.pid)
        finally:
            process.terminate()
            process.wait(STOP_S)
            if process.stdout is not None:
                process.stdout.close()


def _environment() -> dict[str, str]:
    """Environment of an installed service: its byte code is kept, whatever the shell says.

    Without byte code a start compiles four hundred modules in two processes at once.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
