"""The identity of a scene: equal scenes have equal hashes, however they were written."""

import hashlib

from cardan.schemas.scene import Scene


def scene_hash(scene: Scene) -> str:
    """Return the SHA-256 (hex) of the scene as JSON: defaults filled in, fields in the order of the
    schema, names in that of the alphabet."""
    ordered = {
        "materials": dict(sorted(scene.materials.items())),
        "meshes": dict(sorted(scene.meshes.items())),
    }
    text = scene.model_copy(update=ordered).model_dump_json()
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
