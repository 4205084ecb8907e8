"""`cardan import`: a URDF or MJCF model, or a scene with its mesh files, as one scene."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from pydantic import ValidationError

from cardan.schemas import SceneInvalid
from cardan.schemas.imported import ImportOptions, ImportReport
from cardan.schemas.translate import translate
from cardan.service.cli import console
from cardan.service.cli.outputs import prepare_file
from cardan.service.cli.scene_source import parse_changes

COLOURS = {"dropped": "yellow", "approximated": "cyan", "guessed": "magenta"}
SHOWN_PLACES = 4
NEEDED = "Importing needs MuJoCo's compiler: pip install 'cardan[import]'."


def import_model(
    source: Path,
    output: Path | None,
    packages: list[Path],
    changes: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """Write the scene (to standard output without OUT, or with `-`) and print the report."""
    from cardan.service.importing import ImportRefusedError, import_path

    output = None if str(output) == "-" else output
    prepare_file(output, as_json=as_json)
    for folder in packages:
        if not folder.is_dir():
            console.stop(f"--packages needs folders; there is none '{folder}'.", as_json=as_json)
    wanted: dict[str, Any] = {}
    try:
        wanted = parse_changes(changes)
        options = ImportOptions.model_validate(wanted)
        answer = import_path(source, options, tuple(packages))
    except SceneInvalid as error:
        console.stop_with_faults(error.errors, as_json=as_json)
    except ValidationError as error:
        faults = translate(error, ImportOptions, wanted)
        console.stop_with_faults(faults, as_json=as_json)
    except ImportError:
        console.stop(NEEDED, as_json=as_json)
    except ImportRefusedError as error:
        hint = f" {error.hint}" if error.hint else ""
        console.stop(f"{error}{hint}", as_json=as_json, code_name=error.code)
    text = json.dumps(answer.scene, indent=1, ensure_ascii=False) + "\n"
    if output is None:
        if as_json:
            console.print_json(answer.model_dump())
            return
        typer.echo(text, nl=False)
    else:
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            reason = error.strerror or os.strerror(error.errno or 0)
            console.stop(f"{output} cannot be written: {reason}", console.FAILED, as_json=as_json)
    if as_json:
        console.print_json({"written": str(output), "report": answer.report.model_dump()})
        return
    _tell(answer.report, output)


def _tell(report: ImportReport, output: Path | None) -> None:
    err = console.err()
    for note in report.notes:
        places = ", ".join(note.where[:SHOWN_PLACES])
        if len(note.where) > SHOWN_PLACES:
            places += f" and {len(note.where) - SHOWN_PLACES} more"
        # texts of the model are no markup
        err.print(note.kind, style=COLOURS[note.kind], end=" ")
        err.print(note.message, markup=False)
        if places:
            err.print(f"      {places}", style="dim", markup=False)
    summary = f"{report.bodies} bodies, {report.joints} joints"
    if report.mass is not None:
        summary += f", {report.mass:.6g} kg"
    err.print(f"{report.name}: {summary}, read by {report.compiler}", markup=False)
    if output is not None:
        err.print(f"written: {output}", markup=False)
