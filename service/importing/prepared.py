"""A model as one text with all the files it needs: the compiler reads nothing else."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from cardan.service.importing.files import Folder
from cardan.service.importing.mesh_formats import as_compiled_format

Color = tuple[float, float, float]


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
        data, ending = converted
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
