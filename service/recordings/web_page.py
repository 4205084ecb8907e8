"""A recording as one web page that plays without a server, as the page itself saves one.

It is made of files of the page: `player.html`, and `player.js` with the modules that it imports, in
an import map of `data:` addresses, which every browser also loads from a file.
"""

import base64
import gzip
import html
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cardan.schemas import Scene
from cardan.service.recordings.motion import NoMotionError, motion_of
from cardan.service.recordings.sources import Recording
from cardan.service.recordings.tables import to_numpy

# poses that are kept before compression [bytes], and moments: longer runs are thinned
MAX_POSES = 24_000_000
MAX_FRAMES = 18_000
# moments of a plot, and digits of its values: as the page has them
MAX_POINTS = 1500
DIGITS = 6
# what makes the total constant where all is booked: work done, losses, what stabilisation added
BOOKED = {
    "total": 1,
    "work_in": -1,
    "dissipated_friction": 1,
    "dissipated_impact": 1,
    "dissipated_damping": 1,
    "correction": -1,
}
FIRST = "player.js"
LICENCE = "vendor/three/LICENSE.txt"
IMPORT = re.compile(r'^(import .*? from )"([^"]+)";', re.MULTILINE)
IMPORT_MAP = re.compile(r'<script type="importmap">(.*?)</script>', re.DOTALL)
PART = re.compile(r"\{\{(\w+)\}\}")
# what the player draws of a body
DRAWN = ("name", "type", "position", "orientation", "shapes", "visuals")
WEIGHED = ("mass", "density", "center_of_mass")


def write_web_page(recording: Recording, sink: IO[bytes]) -> None:
    """Write the page. Raises NoMotionError without poses, a scene, or the files of the page."""
    folder = Path(str(files("cardan") / "web"))
    if recording.scene is None or not (folder / FIRST).is_file():
        missing = "its scene is not known" if recording.scene is None else "no page is installed"
        raise NoMotionError(f"a web page cannot be made of this recording: {missing}")
    scene = Scene.model_validate(dict(recording.scene)).model_dump(mode="json")
    run = _run(scene, recording)
    licence = (folder / LICENCE).read_text(encoding="utf-8").replace("--", "- -")
    parts = {
        "title": html.escape(str(run["title"])),
        "words": html.escape(str(scene.get("description") or "")),
        "licence": licence,
        "imports": _inert({"imports": _modules(folder)}),
        "run": _inert(run),
    }
    template = (folder / "player.html").read_text(encoding="utf-8")
    # one pass: a part may hold whatever stands for another
    sink.write(PART.sub(lambda found: parts[found[1]], template).encode())


def _run(scene: Mapping[str, Any], recording: Recording) -> dict[str, Any]:
    """What the player reads: scene, moments, poses of what moves."""
    motion = motion_of(recording)
    recorded = {name: column for column, name in enumerate(motion.names)}
    comes = {
        name for name, here in zip(motion.names, motion.present.T, strict=True) if not here.all()
    }
    moving = [
        number
        for number, body in enumerate(scene["bodies"])
        if body["name"] in recorded and (body["type"] != "static" or body["name"] in comes)
    ]
    room = min(MAX_FRAMES, max(2, MAX_POSES // (28 * max(1, len(moving)))))
    every = max(1, -(-len(motion.times) // room))
    columns = [recorded[scene["bodies"][number]["name"]] for number in moving]
    # the player draws nothing that is no number
    poses = np.where(motion.present[..., None], motion.poses, np.nan)
    return {
        "title": scene.get("name") or "scene",
        "scene": {
            "name": scene.get("name"),
            "bodies": [
                {key: body[key] for key in (*DRAWN, *WEIGHED) if body.get(key) is not None}
                for body in scene["bodies"]
            ],
            "joints": scene["joints"],
            "meshes": scene["meshes"],
        },
        "times": motion.times[::every].tolist(),
        "moving": moving,
        "poses": _packed(poses[::every][:, columns]),
        "camera": None,
        "plots": _plots(recording),
    }


def _plots(recording: Recording) -> list[dict[str, Any]]:
    """The energy over time, where it was recorded: the curves of the page."""
    source = recording.sources.get("energy")
    wanted = ("time", "kinetic", "potential", *BOOKED)
    if source is None or source.num_rows < 2 or not set(wanted) <= set(source.schema.names):
        return []
    chunks = list(source.chunks(wanted))
    every = -(-source.num_rows // MAX_POINTS)
    columns = {
        name: np.concatenate([to_numpy(chunk[name]) for chunk in chunks])[::every]
        for name in wanted
    }
    balance = np.sum([sign * columns[name] for name, sign in BOOKED.items()], axis=0)
    curves = {name: columns[name] for name in ("kinetic", "potential", "total")}
    return [
        {
            "title": "Energy [J]",
            "log": False,
            "times": _rounded(columns["time"]),
            "curves": [
                {"label": label, "ink": ink, "dashed": False, "values": _rounded(values)}
                for ink, (label, values) in enumerate((curves | {"balance": balance}).items())
            ],
        }
    ]


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    """Numbers with few digits; what is no number is missing."""
    return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in values.tolist()]


def _packed(poses: NDArray[np.float64]) -> str:
    """Poses (frames, bodies, 7) as the player has them: quaternions [x, y, z, w], float32."""
    turned = np.concatenate([poses[..., :3], np.roll(poses[..., 3:], -1, axis=-1)], axis=-1)
    return base64.b64encode(gzip.compress(turned.astype("<f4").tobytes(), 6, mtime=0)).decode()


def _modules(folder: Path) -> dict[str, str]:
    """The player and what it imports, by name: a file that has several names is there once."""
    index = (folder / "index.html").read_text(encoding="utf-8")
    found = IMPORT_MAP.search(index)
    mapped: Mapping[str, str] = json.loads(found[1])["imports"] if found else {}
    sources: dict[Path, str] = {}
    waiting = [folder / FIRST]
    while waiting:
        file = waiting.pop()
        if file in sources:
            continue

        def renamed(found: re.Match[str], here: Path = file.parent) -> str:
            name = found[2]
            target = (here / name) if name.startswith("./") else (folder / mapped[name])
            waiting.append(target.resolve())
            return f'{found[1]}"cardan/{target.name}";'

        sources[file] = IMPORT.sub(renamed, file.read_text(encoding="utf-8"))
    return {f"cardan/{file.name}": _address(source) for file, source in sources.items()}


def _address(source: str) -> str:
    return f"data:text/javascript;base64,{base64.b64encode(source.encode()).decode()}"


def _inert(value: Any) -> str:
    """JSON within a script: no end tag, no comment."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
