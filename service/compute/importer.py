"""The process that imports one model: what a compiler does to a stranger's file stays in here.

    python -m cardan.service.compute.importer FOLDER

FOLDER holds `files/` (an archive, or the model with its meshes) and `order.json` (memory [bytes],
seconds, options). The answer is left in `answer.json`: {"answer": ...} or {"refusal": {code,
message, hint}}. Nothing is written outside of FOLDER.
"""

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

from cardan.schemas.imported import ImportOptions
from cardan.service.processes import limits

FILE_BYTES = 1024**3


def main(folder: Path) -> None:
    """Import as ordered, within the limits of the order."""
    order = json.loads((folder / "order.json").read_text())
    limits.die_with_parent()
    limits.limit_resources(limits.WorkerLimits(int(order["memory"]), FILE_BYTES))
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(order["seconds"]), hard))
    from cardan.service.importing import import_folder

    # a log of the compiler, if it writes one, goes here
    os.chdir(folder)
    said = _import(folder, ImportOptions.model_validate(order["options"]), import_folder)
    (folder / "answer.json").write_text(json.dumps(said))


def _import(folder: Path, options: ImportOptions, import_folder: Any) -> dict[str, Any]:
    from cardan.service.importing import ImportRefusedError, import_archive
    from cardan.service.importing.files import is_archive

    files = list((folder / "files").iterdir())
    try:
        if len(files) == 1 and files[0].is_file() and is_archive(files[0]):
            answer = import_archive(files[0], folder / "unpacked", options)
        else:
            answer = import_folder(folder / "files", options)
    except ImportRefusedError as error:
        return {"refusal": {"code": error.code, "message": str(error), "hint": error.hint}}
    except MemoryError:
        return {"refusal": {"code": "too_large", "message": "The model needs too much memory.",
                            "hint": None}}  # fmt: skip
    return {"answer": answer.model_dump()}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
