"""A real S3 server on loopback: moto's, in a process of its own."""

import importlib.util
import subprocess
import sys
from itertools import count

import httpx
import pytest

from tests.service.postgres_server import free_port
from tests.service.real_server import wait_for


class BucketServer:
    """Started when it is made; `folder()` is a new empty one."""

    def __init__(self):
        for module in ("obstore", "moto"):
            if importlib.util.find_spec(module) is None:
                pytest.skip(f"S3: SKIPPED, {module} is not installed; make cluster-test brings it")
        self._numbers = count()
        self.url = f"http://127.0.0.1:{free_port()}"
        port = self.url.rpartition(":")[2]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", port],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(self._answers, what="the S3 server")
        httpx.put(f"{self.url}/recordings").raise_for_status()

    def folder(self):
        """The address of a new, empty folder."""
        return f"s3://recordings/of/{next(self._numbers)}"

    @property
    def environ(self):
        """Environment variables with its address and keys."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": "something",
            "AWS_REGION": "us-east-1",
        }

    def stop(self):
        """End it; it keeps its objects in memory only."""
        self.process.kill()
        self.process.wait(30)

    def _answers(self):
        assert self.process.poll() is None, "the S3 server ended"
        try:
            return httpx.get(self.url, timeout=5.0).status_code
        except httpx.TransportError:
            return None
