"""A real Ray cluster on loopback: nodes that are processes of their own, and may be killed."""

import importlib.util
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.service.postgres_server import free_port
from tests.service.real_server import wait_for

STORE_BYTES = 80 * 1024**2
START_SECONDS = 180.0


class RayCluster:
    """A head and a further node of one core each, started when it is made."""

    def __init__(self):
        if importlib.util.find_spec("ray") is None:
            pytest.skip("Ray: SKIPPED, it is not installed; make cluster-test brings it")
        self.token = secrets.token_hex(32)
        # paths of sockets are short: not a folder of pytest
        self._folder = Path(tempfile.mkdtemp(prefix="cardan-ray-"))
        self.address = f"127.0.0.1:{free_port()}"
        self.client_port = free_port()
        self.nodes = []
        try:
            port = self.address.rpartition(":")[2]
            self._add(
                "--head",
                f"--port={port}",
                f"--ray-client-server-port={self.client_port}",
                f"--temp-dir={self._folder}/ray",
                "--include-dashboard=false",
            )
            self.add()
        except AssertionError as error:
            log = (self._folder / "log").read_text(errors="replace")[-2000:]
            self.stop()
            pytest.skip(f"Ray: SKIPPED, it does not start here: {error} {log}")

    def add(self):
        """One more node."""
        return self._add(f"--address={self.address}")

    def _add(self, *arguments):
        environ = os.environ | {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": self.token,
            "RAY_USAGE_STATS_ENABLED": "0",
            # where other work has the processor
            "RAY_raylet_start_wait_time_s": str(int(START_SECONDS)),
            "TMPDIR": str(self._folder),
        }
        with (self._folder / "log").open("ab") as log:
            node = subprocess.Popen(
                [
                    *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block"),
                    *("--num-cpus=1", "--node-ip-address=127.0.0.1", "--disable-usage-stats"),
                    *(f"--object-store-memory={STORE_BYTES}", *arguments),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environ,
                start_new_session=True,
            )
        self.nodes.append(node)
        started = len(self.nodes)
        wait_for(
            lambda: self._said(node).count("Ray runtime started") >= started,
            START_SECONDS,
            "a node of Ray",
        )
        return node

    def _said(self, node):
        assert node.poll() is None, "a node of Ray ended"
        return (self._folder / "log").read_text(errors="replace")

    def kill(self, node):
        """End a node and all that runs on it at once, as when its machine loses power."""
        processes = self.processes(node)
        for end in (psutil.Process.suspend, psutil.Process.kill):
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    end(process)
        node.wait(30)
        self.nodes.remove(node)

    def processes(self, *nodes):
        """All that runs on nodes, by default on all: the processes of their sessions."""
        wanted = {node.pid for node in nodes or self.nodes}
        found = []
        for process in psutil.process_iter():
            with suppress(OSError):
                if os.getsid(process.pid) in wanted:
                    found.append(process)
        return found

    def stop(self):
        """Kill all nodes and remove what they wrote."""
        for node in list(self.nodes):
            self.kill(node)
        shutil.rmtree(self._folder, ignore_errors=True)
