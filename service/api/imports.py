"""`/v1/scenes:import`: a URDF or MJCF model as a scene, with a report of the differences.

The model is untrusted: a separate process with limits reads it in a temporary folder.
"""

import email.parser
import email.policy
import errno
import importlib.util
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import anyio
from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Query, Request

from cardan.schemas.imported import ImportAnswer, ImportOptions
from cardan.schemas.options import ChosenFormulation
from cardan.service.api.dependencies import PROBLEMS, TheSettings, refuse_unknown_query
from cardan.service.api.problems import ProblemError
from cardan.service.settings import Settings

log = logging.getLogger("cardan.api")

router = APIRouter(
    tags=["scenes"], responses=PROBLEMS, dependencies=[Depends(refuse_unknown_query)]
)

SECONDS = 60.0
"""Time limit of one import [s]."""
MAX_PARTS = 1_000
MAX_PROCESSES = 3
"""Attempts at one import whose processes are killed from outside."""
BAD_NAMES = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG)
"""Errors of names: too long, or of a file that another one has as its folder."""
BINARY = {"schema": {"type": "string", "format": "binary"}}
PLAIN = (
    "application/zip",
    "application/x-zip-compressed",
    "application/xml",
    "text/xml",
    "application/octet-stream",
)
UPLOADS = {
    "requestBody": {
        "required": True,
        "content": {
            **dict.fromkeys(PLAIN[::2], BINARY),
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "files": {"type": "array", "items": BINARY["schema"]},
                    },
                }
            },
        },
    }
}

# import processes at one time
_turns = anyio.CapacityLimiter(2)


def options_of(
    root: Annotated[Literal["fixed", "free"], Query(description="URDF: how its root is held")] = (
        "fixed"
    ),
    links: Annotated[
        Literal["merged", "kept"], Query(description="links on fixed joints")
    ] = "merged",
    keyframe: Annotated[
        str | None, Query(max_length=200, description="MJCF: to start from")
    ] = None,
    formulation: Annotated[ChosenFormulation, Query(description="of the scene")] = "maximal",
    drives: Annotated[
        Literal["none", "position"], Query(description="URDF: motors that hold the start")
    ] = "none",
    ground: Annotated[bool, Query(description="whether to add a plane below the model")] = False,
    visuals: Annotated[bool, Query(description="whether to bring what is only seen")] = True,
    main: Annotated[
        str | None, Query(max_length=1000, description="path of the model among several")
    ] = None,
) -> ImportOptions:
    """Return the options of an import from the query."""
    return ImportOptions(
        root=root,
        links=links,
        keyframe=keyframe,
        formulation=formulation,
        drives=drives,
        ground=ground,
        visuals=visuals,
        main=main,
    )


@router.post("/scenes:import", response_model=ImportAnswer, openapi_extra=UPLOADS)
async def import_scene(
    request: Request,
    settings: TheSettings,
    options: Annotated[ImportOptions, Depends(options_of)],
) -> ImportAnswer:
    """Make a scene of a model: the body is a .urdf, an MJCF .xml or a .zip with its meshes.

    A scene that names mesh files comes in a .zip with these. Alternatively several files come as
    `multipart/form-data`, each under its path. The scene is valid and can be posted unchanged; the
    report lists what was dropped, approximated and guessed.
    """
    if importlib.util.find_spec("mujoco") is None:
        raise ProblemError(
            501,
            "import_not_available",
            "This service was installed without MuJoCo's compiler: pip install 'cardan[import]'.",
        )
    kind = request.headers.get("content-type", "")
    files = _files(kind, await request.body())
    async with _turns:
        said = await _import(files, options, settings)
    return ImportAnswer.model_validate(said)


def _files(kind: str, body: bytes) -> dict[str, bytes]:
    """Return the files of a body by path. Raises ProblemError."""
    plain = kind.partition(";")[0].strip().lower()
    if plain in PLAIN:
        if not body:
            raise ProblemError(422, "invalid_request", "The body is empty; a model is needed.")
        return {"model.xml": body}
    if plain != "multipart/form-data":
        raise ProblemError(
            415,
            "unsupported_media_type",
            "The body must be a model: application/zip, application/xml or multipart/form-data, "
            f"not {plain or 'without a Content-Type'}.",
            headers={"Accept-Post": "application/zip, application/xml, multipart/form-data"},
        )
    head = b"Content-Type: " + kind.encode("latin-1") + b"\r\n\r\n"
    parser = email.parser.BytesParser(policy=email.policy.HTTP)
    files: dict[str, bytes] = {}
    for part in parser.parsebytes(head + body).iter_parts():
        name = part.get_filename()
        if name is None:
            continue
        content = part.get_payload(decode=True)
        files[_safe(name)] = content if isinstance(content, bytes) else b""
        if len(files) > MAX_PARTS:
            raise ProblemError(413, "too_large", f"More than {MAX_PARTS} files; send a zip.")
    if not files:
        raise ProblemError(422, "invalid_request", "The form holds no file.")
    return files


def _safe(name: str) -> str:
    """Return the path of an uploaded file below the folder. Raises ProblemError if it leaves it."""
    path = PurePosixPath(name.replace("\\", "/"))
    bad = path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name
    if bad or not path.parts:
        raise ProblemError(422, "path_outside", f"A file may not be called {name[:200]!r}.")
    return path.as_posix()


async def _import(
    files: dict[str, bytes], options: ImportOptions, settings: Settings
) -> dict[str, Any]:
    """Import in a separate process; return its answer. Raises ProblemError."""
    with tempfile.TemporaryDirectory(prefix="cardan-import-") as name:
        folder = Path(name)
        order = {
            "memory": settings.worker_memory_bytes,
            "seconds": SECONDS,
            "options": options.model_dump(),
        }
        await run_sync(_write, folder, files, order)
        # the process reads untrusted files: it gets none of the service's secrets
        environment = {k: v for k, v in os.environ.items() if not k.startswith("CARDAN_API_KEY")}
        ended = await _survivor(name, environment)
        answer = folder / "answer.json"
        if ended.returncode != 0 or not answer.is_file():
            raise ProblemError(
                422,
                "import_failed",
                "The compiler did not survive this model.",
                errors=[_fault("import_failed", _last_line(ended.stderr), None)],
            )
        said = json.loads(await run_sync(answer.read_bytes))
    refusal = said.get("refusal")
    if refusal is not None:
        fault = _fault(refusal["code"], refusal["message"], refusal["hint"])
        raise ProblemError(422, "import_refused", refusal["message"], errors=[fault])
    found: dict[str, Any] = said["answer"]
    return found


async def _survivor(folder: str, environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Return how the process ended; after one that was killed from outside, start another.

    Its own limits cause other signals. Raises ProblemError.
    """
    for _ in range(MAX_PROCESSES):
        try:
            with anyio.fail_after(SECONDS):
                ended = await anyio.run_process(
                    [sys.executable, "-m", "cardan.service.compute.importer", folder],
                    stdin=subprocess.DEVNULL,
                    env=environment,
                    check=False,
                )
        except TimeoutError:
            raise ProblemError(
                422, "import_too_slow", f"The import took longer than {SECONDS:g} s."
            ) from None
        if ended.returncode != -signal.SIGKILL:
            return ended
        log.warning("an import was killed")
    raise ProblemError(
        503,
        "worker_lost",
        f"The process that imports was killed {MAX_PROCESSES} times, by the operator or for want "
        "of memory on this machine; try again.",
        headers={"Retry-After": "10"},
    )


def _write(folder: Path, files: dict[str, bytes], order: dict[str, Any]) -> None:
    """Write the files and the order. Raises ProblemError for a name that no file can have."""
    for path, content in files.items():
        target = folder / "files" / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        except OSError as error:
            if error.errno not in BAD_NAMES:
                raise
            why = f"The file {path[:200]!r} cannot be written: {error.strerror}."
            raise ProblemError(422, "invalid_request", why) from None
    (folder / "order.json").write_text(json.dumps(order))


def _fault(code: str, message: str, hint: str | None) -> dict[str, Any]:
    return {"pointer": "", "code": code, "message": message, "got": None, "hint": hint}


def _last_line(text: bytes) -> str:
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:500] if lines else "It said nothing."
