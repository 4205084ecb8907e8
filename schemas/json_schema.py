"""The scene as JSON Schema (draft 2020-12), with units and frames in the descriptions.

`python -m cardan.schemas.json_schema` prints the document that is published as `scene.schema.json`.
"""

import json
import sys
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from cardan.schemas.scene import Scene

DIALECT = GenerateJsonSchema.schema_dialect
IDENTITY = "urn:cardan:scene:1"


def scene_json_schema() -> dict[str, Any]:
    """Return one self-contained schema for scene documents."""
    schema = Scene.model_json_schema(mode="validation")
    return {"$schema": DIALECT, "$id": IDENTITY, **schema}


def schema_text() -> str:
    """Return the schema as it is published."""
    return json.dumps(scene_json_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
