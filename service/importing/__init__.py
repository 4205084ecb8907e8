"""Import of robot models (URDF, MJCF) as scenes: MuJoCo's compiler reads, this package writes.

URDF is the robot format of ROS, MJCF that of MuJoCo. A `geom` is a shape of MuJoCo.

    folder or archive -> files       where the model and its meshes are
    model text        -> prepared    one text, all of whose paths are resolved (mjcf.py, urdf.py)
    prepared          -> compiled    MuJoCo's numbers at the initial state
    compiled          -> scene       bodies, shapes, joints, drives; a note for each difference

Depends on schemas and MuJoCo; independent of engine and HTTP.
"""

from cardan.service.importing.convert import import_archive, import_folder, import_path
from cardan.service.importing.refusal import ImportRefusedError

__all__ = ["ImportRefusedError", "import_archive", "import_folder", "import_path"]
