"""`cardan batch`: all variants of a scene on this machine's cores or on a server, as one table."""

import json
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import typer

from cardan.schemas import SceneInvalid
from cardan.service.api.batch_intake import admit_batch, batch_order
from cardan.service.api.batches import result_rows
from cardan.service.api.problems import ProblemError, from_service
from cardan.service.api.views import batch_info
from cardan.service.cli import console
from cardan.service.cli.interrupts import interruptible
from cardan.service.cli.outputs import prepare_file
from cardan.service.cli.remote import Server, ServerError
from cardan.service.cli.scene_source import parse_text, read_document
from cardan.service.errors import ServiceError
from cardan.service.recordings.formats import FORMATS, Format
from cardan.service.recordings.rows import encode_rows
from cardan.service.services import Services, opened
from cardan.service.settings import Settings

POLL_SECONDS = 0.1
INTERRUPTED = "Interrupted by the user."


def batch(source: Path, output: Path, url: str | None, *, as_json: bool) -> None:
    """Run the batch and write its results; ends with 0 when every run succeeded, else 3.

    Ctrl+C cancels the runs of a batch that is computed here, and ends with 130; the results of
    those that had ended are written.
    """
    form = FORMATS.get(output.suffix.lower().lstrip("."))
    if form is None or form.name not in ("parquet", "csv", "json"):
        console.stop(f"{output.name}: results are .parquet, .csv or .json", as_json=as_json)
    prepare_file(output, as_json=as_json)
    document = _document(source, as_json=as_json)
    interrupted = False
    try:
        if url:
            info = _on_server(document, output, form, url, as_json=as_json)
        else:
            info, interrupted = _here(document, output, form, as_json=as_json)
    except (ProblemError, ServiceError) as error:
        problem = error if isinstance(error, ProblemError) else from_service(error)
        if problem.status == 422:
            console.stop_with_faults(problem.errors, as_json=as_json)
        console.stop(problem.detail, console.FAILED, as_json=as_json)
    except ServerError as refused:
        if refused.faults and refused.invalid:
            console.stop_with_faults(refused.faults, as_json=as_json)
        console.stop(str(refused), console.FAILED, as_json=as_json)
    except OSError as error:
        console.stop(
            f"{output} cannot be written: {error.strerror or error}",
            console.FAILED,
            as_json=as_json,
        )
    if as_json:
        console.print_json({**info, "output": str(output)})
    else:
        console.print_pairs({"status": info["status"], **info["counts"], "written": output})
    if interrupted:
        raise typer.Exit(console.INTERRUPTED)
    if info["status"] != "succeeded":
        raise typer.Exit(console.FAILED)


def _here(
    document: Any, output: Path, form: Format, *, as_json: bool
) -> tuple[dict[str, Any], bool]:
    """Run the batch in processes of this one; the ended batch, and whether it was interrupted."""
    with interruptible() as pressed, tempfile.TemporaryDirectory(prefix="cardan-") as folder:
        settings = Settings.from_environment(os.environ, data=Path(folder))
        order = batch_order(json.dumps(document).encode(), settings)
        with ThreadPoolExecutor(1) as waits, opened(settings) as services:
            answer = waits.submit(services.compute.wait_for_answer, order, within_s=600.0)
            while not (pressed or answer.done()):
                wait([answer], POLL_SECONDS)
            if pressed:
                # here, not in the middle of an import, which would swallow it
                raise KeyboardInterrupt
            taken = answer.result()
            batch_id = admit_batch(taken, services, None)
            services.queue.wake.set()
            info = _follow(services, batch_id, pressed, as_json=as_json)
            row = services.catalog.batch(batch_id)
            assert row is not None
            rows, columns = result_rows(row, services)
            metadata = {"format": "cardan.batch", "format_version": 1}
            metadata["scene_hash"] = taken.text.hash
            output.write_bytes(encode_rows(rows, columns, metadata, form))
    cancelled = info["counts"].get("cancelled", 0)
    interrupted = bool(pressed) and cancelled > 0
    if interrupted:
        ended = info["runs"] - cancelled
        note = f"interrupted by the user; {ended} of {info['runs']} runs had ended"
        console.err().print(f"[bold red]cancelled[/]: {note}")
    return info, interrupted


def _follow(
    services: Services, batch_id: str, pressed: list[int], *, as_json: bool
) -> dict[str, Any]:
    """Wait for the end of a batch; what is `pressed` meanwhile cancels it."""
    with console.progress_bar("batch", shown=not as_json) as tell:
        while True:
            row = services.catalog.batch(batch_id)
            assert row is not None
            info = batch_info(services, row).model_dump(mode="json")
            tell(info["progress"], info["status"])
            if info["finished_at"] is not None:
                return info
            if pressed and info["status"] != "cancelling":
                services.queue.cancel_batch(batch_id, INTERRUPTED)
            time.sleep(POLL_SECONDS)


def _on_server(
    document: Any, output: Path, form: Format, url: str, *, as_json: bool
) -> dict[str, Any]:
    with Server(url) as server:
        with console.progress_bar("batch", shown=not as_json) as tell:
            info = server.ask("POST", "/v1/batches", json=document).json()
            info = server.follow(info, tell)
        answer = server.ask("GET", info["links"]["results"], params={"format": form.name})
    output.write_bytes(answer.content)
    return dict(info)


def _document(source: Path, *, as_json: bool) -> Any:
    """The batch document; a scene given as a path relative to it, or to here, is inserted."""
    try:
        document = (
            read_document("-")
            if str(source) == "-"
            else parse_text(source.read_bytes(), source.name)
        )
        scene = document.get("scene") if isinstance(document, dict) else None
        if isinstance(scene, str) and (source.parent / scene).is_file():
            document["scene"] = read_document(str(source.parent / scene))
    except OSError as error:
        console.stop(f"{source} cannot be read: {error.strerror}", as_json=as_json)
    except SceneInvalid as error:
        console.stop_with_faults(error.errors, as_json=as_json)
    return json.loads(json.dumps(document))
