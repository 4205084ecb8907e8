"""URDF and MJCF models as scenes: read by MuJoCo's compiler, written as plain scene documents.

    folder or archive -> files       where the model and its meshes are
    model text        -> prepared    one text, all of whose paths are resolved (mjcf.py, urdf.py)
    prepared          -> compiled    MuJoCo's numbers at the initial state
    compiled          -> scene       bodies, shapes, joints, drives; notes on the differences

Depends on schemas and MuJoCo; independent of engine and HTTP.
"""

from cardan.service.importing.convert import import_archive, import_folder, import_path
from cardan.service.importing.refusal import ImportRefusedError

__all__ = ["ImportRefusedError", "import_archive", "import_folder", "import_path"]
