"""A model as one text with all the files it needs: the compiler reads nothing else."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from cardan.service.importing.files import Folder
from cardan.service.importing.mesh_formats import Color, as_compiled_format, as_pictures
from cardan.service.importing.srdf import States

GREY = (0.5, 0.5, 0.5)
"""MuJoCo's colour of a geom that has none."""


@dataclass
class Assets:
    """Files by the name that the compiler sees; names are unique across folders."""

    folder: Folder
    bytes_by_name: dict[str, bytes] = field(default_factory=dict)

    def take(self, path: Path) -> str | None:
        """Read a mesh or a height map; its new name, or None where the format is unknown."""
        converted = as_compiled_format(path)
        if converted is None:
            return None
        return self._keep(path, *converted)

    def take_pictures(self, path: Path) -> list[tuple[str, Color | None]]:
        """Read a mesh that is only seen: name and colour of each of its parts."""
        return [(self._keep(path, data, end), color) for data, end, color in as_pictures(path)]

    def _keep(self, path: Path, data: bytes, ending: str) -> str:
        # the compiler calls a mesh of a URDF by the stem of its file
        name = f"{len(self.bytes_by_name)}_{path.stem}{ending}"
        self.bytes_by_name[name] = data
        return name


@dataclass(frozen=True)
class Prepared:
    """Input of the compiler, and data of the model that it does not return."""

    format: Literal["urdf", "mjcf"]
    text: str
    assets: dict[str, bytes]
    source: str
    colors: dict[str, Color] = field(default_factory=dict)
    """URDF: colour of a link's pictures, by link."""
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict)
    """URDF: effort [N or N m] and velocity [m/s or rad/s] of the joints that a drive may have."""
    states: States = field(default_factory=dict)
    """URDF: states of the SRDF beside it."""
