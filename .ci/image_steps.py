"""Performs the steps of the Dockerfile in an empty folder, where no container engine is at hand.

Every ENV, COPY, RUN and WORKDIR of the stages is carried out in order by /bin/sh with an empty
environment, the image's folders /opt/cardan and /tmp lying inside a temporary folder; then CMD is
started with a key and HEALTHCHECK asked until it is content. What needs an engine stays unproven
and is listed: the base image, users, COPY between layers, published ports.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEY = "a-key-only-for-this-trial"
NOT_HERE = ("useradd",)
PORT = "18733"
READY_SECONDS = 120.0

Instruction = tuple[str, str]


def instructions(text: str) -> list[Instruction]:
    """(KEYWORD, rest) of every instruction, continuation lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    found = [line.strip().partition(" ") for line in joined.splitlines() if line.strip()]
    return [(word.upper(), rest.strip()) for word, _, rest in found]


class Image:
    """The folders of the image inside `root`, and the environment of the stage at hand."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment: dict[str, dict[str, str]] = {}
        self.stage = ""
        self.folder = "/"
        self.unproven: list[str] = []
        self.command: list[str] = []
        self.health: list[str] = []

    def inside(self, text: str) -> str:
        """The text with the image's folders replaced by those of the trial."""
        return re.sub(r"(?<![\w./])(/opt/cardan|/tmp)\b", rf"{self.root}\1", text)

    def perform(self, word: str, rest: str) -> None:
        """One instruction."""
        step = getattr(self, f"do_{word.lower()}", None)
        if step is None:
            self.unproven.append(f"{word} {rest}")
        else:
            step(rest)

    def do_from(self, rest: str) -> None:
        base, _, name = rest.partition(" AS ")
        base = base.replace("${TARGETARCH:-amd64}", "amd64")
        self.environment[name] = dict(
            self.environment.get(base, {"PATH": "/usr/local/bin:/usr/bin:/bin"})
        )
        self.stage, self.folder = name, "/"
        print(f"== stage {name} from {base}", flush=True)

    def do_env(self, rest: str) -> None:
        for pair in shlex.split(rest):
            name, _, value = pair.partition("=")
            value = value.replace("$PATH", self.environment[self.stage]["PATH"])
            self.environment[self.stage][name] = self.inside(value)

    def do_workdir(self, rest: str) -> None:
        self.folder = rest
        Path(self.inside(rest)).mkdir(parents=True, exist_ok=True)

    def do_copy(self, rest: str) -> None:
        *options, source, target = shlex.split(rest)
        if options:
            # stages share their folders here: most of what they leave is where it belongs already
            self.unproven.append(f"COPY {rest}")
            if source != target:
                shutil.copytree(self.inside(source), self.inside(target), dirs_exist_ok=True)
            return
        folder = Path(self.inside(self.folder))
        for path in sorted(allowed(ROOT, source)):
            copied = folder / target / path.relative_to(ROOT)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copied)

    def do_run(self, rest: str) -> None:
        if any(word in rest for word in NOT_HERE):
            self.unproven.append(f"RUN {rest}")
            Path(self.inside("/opt/cardan/data")).mkdir(parents=True, exist_ok=True)
            return
        print(f"RUN {rest}", flush=True)
        self.start(["/bin/sh", "-c", self.inside(rest)], check=True)

    def do_user(self, rest: str) -> None:
        self.unproven.append(f"USER {rest}")
        # what only root could do in the image must not be needed from here on
        shutil.rmtree(self.inside("/opt/cardan/source"), ignore_errors=True)

    def do_expose(self, rest: str) -> None:
        """A note for readers of the image."""

    do_volume = do_expose

    def do_healthcheck(self, rest: str) -> None:
        self.health = json.loads(rest.partition("CMD ")[2])

    def do_cmd(self, rest: str) -> None:
        self.command = json.loads(rest)

    def start(self, command: list[str], check: bool) -> int:
        """Run a command to its end in the stage's environment and folder."""
        return subprocess.run(
            command,
            env=self.environment[self.stage] | {"HOME": str(self.root)},
            cwd=self.inside(self.folder),
            check=check,
            stdin=subprocess.DEVNULL,
        ).returncode

    def serve(self) -> None:
        """CMD and HEALTHCHECK, and that the key guards. Raises RuntimeError."""
        command = [PORT if word == "8000" else word for word in self.command]
        environment = self.environment[self.stage] | {"HOME": str(self.root)}
        folder = self.inside(self.folder)
        refused = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, check=False, text=True
        )
        if refused.returncode == 0 or "CARDAN_API_KEY" not in refused.stderr + refused.stdout:
            raise RuntimeError(f"it listens on all interfaces without a key: {refused}")
        print("CMD without a key is refused, as it should be", flush=True)
        began = time.monotonic()
        process = subprocess.Popen(command, env=environment | {"CARDAN_API_KEY": KEY}, cwd=folder)
        try:
            health = [word.replace("8000", PORT) for word in self.health]
            while subprocess.run(
                health, env=environment, capture_output=True, check=False
            ).returncode:
                if process.poll() is not None or time.monotonic() - began > READY_SECONDS:
                    raise RuntimeError("HEALTHCHECK was never content")
                time.sleep(0.2)
            print(f"HEALTHCHECK content after {time.monotonic() - began:.1f} s", flush=True)
            expect(401, {})
            expect(200, {"Authorization": f"Bearer {KEY}"})
        finally:
            process.terminate()
            process.wait(30)


def expect(status: int, headers: dict[str, str]) -> None:
    """GET /v1/limits with these headers answers with this status. Raises RuntimeError."""
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/v1/limits", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            found = answer.status
    except urllib.error.HTTPError as error:
        found = error.code
    if found != status:
        raise RuntimeError(f"/v1/limits answered {found} instead of {status}")
    print(f"/v1/limits {'with' if headers else 'without'} the key: {found}", flush=True)


def allowed(root: Path, source: str) -> list[Path]:
    """Files of the build context under `source`, as .dockerignore has it (last match wins)."""
    rules = [
        line.strip()
        for line in (root / ".dockerignore").read_text().splitlines()
        if line.strip() and not line.startswith("#")
    ]
    found: list[Path] = []
    for folder, names, files in os.walk(root / source if source != "." else root):
        names[:] = [name for name in names if name == ".package" or not name.startswith(".")]
        found += [Path(folder) / name for name in files]
    if (root / source).is_file():
        found = [root / source]
    return [path for path in found if sent(path.relative_to(root), rules)]


def sent(path: Path, rules: list[str]) -> bool:
    """Whether the rules of .dockerignore let a file through."""
    keep = True
    candidates = [path.as_posix(), *(parent.as_posix() for parent in path.parents)]
    for rule in rules:
        pattern = rule.lstrip("!")
        patterns = {pattern, pattern.removeprefix("**/")}
        if any(
            fnmatch(name, one) or (fnmatch(Path(name).name, one) and "**/" in pattern)
            for name in candidates
            for one in patterns
        ):
            keep = rule.startswith("!")
    return keep


def main() -> int:
    """Perform all steps; 0 when the service answered."""
    with tempfile.TemporaryDirectory(prefix="cardan-image-") as name:
        image = Image(Path(name))
        (image.root / "tmp").mkdir()
        for word, rest in instructions((ROOT / "Dockerfile").read_text()):
            image.perform(word, rest)
        image.serve()
    print("Not proven here (needs a container engine):")
    for line in image.unproven:
        print(f"  {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
