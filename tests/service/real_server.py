"""`cardan serve` as a real process, scenes for it, and waiting on conditions."""

import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[2]

# ten balls fall on a plane: short, with contacts
DROP: dict[str, Any] = {
    "version": 1,
    "name": "drop",
    "simulation": {"dt": 0.002, "duration": 0.2},
    "bodies": [
        {
            "name": "floor",
            "type": "static",
            "shapes": [{"type": "plane", "normal": [0, 0, 1], "offset": 0}],
        },
        *(
            {
                "name": f"ball {i}",
                "position": [0.3 * i, 0, 0.15],
                "mass": 1.0,
                "shapes": [{"type": "sphere", "radius": 0.1}],
            }
            for i in range(3)
        ),
    ],
    "record": {"every": 10, "channels": ["pose", "velocity", "contacts", "energy", "solver"]},
}


def long_scene(steps=5_000_000):
    """The same scene for so many steps that a test can step in while it runs."""
    scene = dict(DROP, name="long")
    scene["simulation"] = {"dt": 0.002, "duration": 0.002 * steps}
    scene["record"] = {"every": max(1, steps // 100), "channels": ["pose", "energy"]}
    return scene


def wait_for(condition, seconds=180.0, what="the condition"):
    """The first true value of a condition; fails after some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        # a client that asks without a pause takes the processor from what it waits for
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come true within {seconds} s")


SERVES = "Cardan serves at http"
OPENS = "The page opens at http"


@dataclass
class Server:
    """`cardan serve` in a process of its own."""

    data: Path
    environ: dict = field(default_factory=dict)
    url: str = ""
    port: int = 0
    process: subprocess.Popen[str] | None = None
    reader: threading.Thread | None = None
    errors: list[str] = field(default_factory=list)

    def start(self, until=SERVES):
        """Start it and wait until it says that it serves, or opens."""
        self.errors.clear()
        environ = {**os.environ, **self.environ}
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "cardan.service.cli",
                "serve",
                "--port",
                str(self.port),
                "--data",
                self.data,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environ,
        )
        assert process.stdout is not None
        self.process = process
        self.reader = threading.Thread(target=self._keep_errors, daemon=True)
        self.reader.start()
        # before it serves it may say where the page is while kernels are compiled
        line = next((text for text in process.stdout if until in text), None)
        if line is None:
            process.wait(30)
            self._close()
            raise AssertionError(f"no server: {''.join(self.errors)[-3000:]}")
        self.url = line.split(" at ")[1].split("/ ")[0]
        return self

    def client(self, **more):
        return httpx.Client(base_url=self.url, timeout=90.0, **more)

    def stop(self):
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)
        self._close()

    def kill(self):
        assert self.process is not None
        self.process.kill()
        self.process.wait(30)
        self._close()

    def _close(self):
        assert self.process is not None
        assert self.process.stdout is not None
        assert self.reader is not None
        self.process.stdout.close()
        self.reader.join()

    def _keep_errors(self):
        assert self.process is not None
        assert self.process.stderr is not None
        with self.process.stderr as stream:
            self.errors.extend(stream)


def run_to_end(client, scene, **more):
    """Post a scene and wait for its end; the simulation."""
    answer = client.post("/v1/simulations", json={"scene": scene, **more})
    assert answer.status_code == 202, answer.text
    return end_of(client, answer.json())


def end_of(client, info, seconds=240.0):
    """What a run, a batch or a study is when it has ended: the service says so by itself."""
    url, until = info["links"]["self"], time.monotonic() + seconds
    while (now := client.get(url, headers={"Prefer": "wait=10"}).json())["finished_at"] is None:
        assert time.monotonic() < until, now
    return now
