"""`cardan run`: a scene in this process or on a server, its recording into a file or folder."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from cardan.schemas import Scene, SceneInvalid, scene_hash
from cardan.service.cli import console
from cardan.service.cli.interrupts import interruptible
from cardan.service.cli.outputs import prepare_file, prepare_recording
from cardan.service.cli.remote import Server, ServerError
from cardan.service.cli.scene_source import read_scene
from cardan.service.recordings.engine_tables import finite_values, recording_of
from cardan.service.recordings.folder import save
from cardan.service.recordings.tables import Tables


@dataclass(frozen=True)
class RunOptions:
    """Options of `cardan run`."""

    scene: str
    output: Path | None = None
    summary: str | None = None
    changes: Sequence[str] = ()
    url: str | None = None
    as_json: bool = False
    strict: bool = False
    verify: bool = False


def run(options: RunOptions) -> None:
    """Simulate a scene to its end; exit with 0, 2 or 3, or 130 when interrupted.

    What was recorded until then is kept. With `strict` a run that is not trusted ends with 4.
    """
    prepare_recording(options.output, as_json=options.as_json)
    if options.summary not in (None, "-"):
        prepare_file(Path(options.summary), as_json=options.as_json)
    asked = ("/simulation/verify=true",) if options.verify else ()
    try:
        scene, document = read_scene(options.scene, (*options.changes, *asked))
    except SceneInvalid as error:
        console.stop_with_faults(error.errors, as_json=options.as_json)
    summary = _on_server(options, document) if options.url else _here(options, scene)
    if options.summary is not None:
        _write_summary(options.summary, summary)
    _report(options, summary)
    status = summary.get("status")
    if status == "cancelled":
        raise typer.Exit(console.INTERRUPTED)
    if status != "succeeded":
        raise typer.Exit(console.FAILED)
    if options.strict and _at(summary, "verdict.status") != "trusted":
        raise typer.Exit(console.DOUBTED)


def simulate(scene: Scene, tell: console.Tell) -> tuple[Tables, dict[str, Any]]:
    """Run a scene in this process; Ctrl+C stops it and keeps what there is.

    Raises SceneError when the engine refuses the scene.
    """
    from cardan import engine
    from cardan.service.cli.compiling import compile_kernels

    compile_kernels(lambda done, total, what: tell(0.0, f"kernels {done}/{total} {what}"))
    with interruptible() as interrupted:
        recording, summary = engine.run(
            scene,
            progress=lambda step, total: tell(step / max(total, 1), f"step {step}/{total}"),
            should_stop=lambda: bool(interrupted),
        )
    summary = finite_values(summary)
    if interrupted and summary.get("status") != "failed":
        summary["status"], summary["reason"] = "cancelled", "interrupted by the user"
    return recording_of(scene, scene_hash(scene), recording.tables(), summary), summary


def _here(options: RunOptions, scene: Scene) -> dict[str, Any]:
    from cardan.engine import SceneError

    try:
        with console.progress_bar(scene.name or "run", shown=not options.as_json) as tell:
            recording, summary = simulate(scene, tell)
    except SceneError as error:
        console.stop_with_faults(error.errors, as_json=options.as_json)
    if options.output is not None:
        try:
            save(recording, options.output)
        except OSError as error:
            console.stop(
                f"{options.output} cannot be written: {error.strerror or error}",
                console.FAILED,
                as_json=options.as_json,
            )
    return summary


def _on_server(options: RunOptions, document: Any) -> dict[str, Any]:
    assert options.url is not None
    try:
        with (
            Server(options.url) as server,
            console.progress_bar("run", shown=not options.as_json) as tell,
        ):
            info = server.run(document, tell)
            error = info.get("error") or {}
            ended_by_physics = error.get("code") in (None, "engine_diverged")
            if info["status"] in ("succeeded", "failed") and ended_by_physics:
                if options.output is not None:
                    server.download(info, options.output)
                found: dict[str, Any] = server.ask("GET", info["links"]["summary"]).json()
                return found
    except ServerError as refused:
        if refused.faults and refused.invalid:
            console.stop_with_faults(refused.faults, as_json=options.as_json)
        console.stop(str(refused), console.FAILED, as_json=options.as_json)
    return {"status": info["status"], "reason": error.get("message"), "steps": info["step"]}


def _write_summary(target: str, summary: Mapping[str, Any]) -> None:
    text = json.dumps(summary, indent=2, ensure_ascii=False) + "\n"
    if target == "-":
        sys.stdout.write(text)
        return
    try:
        Path(target).write_text(text, encoding="utf-8")
    except OSError as error:
        console.stop(f"{target} cannot be written: {error.strerror or error}", console.FAILED)


def _report(options: RunOptions, summary: Mapping[str, Any]) -> None:
    if not options.as_json:
        said = [text for text in summary.get("warnings", ()) if text != summary.get("reason")]
        console.print_warnings(said)
    if options.summary == "-":
        return
    if options.as_json:
        console.print_json({**summary, "output": str(options.output) if options.output else None})
        return
    if summary.get("status") != "succeeded":
        reason = summary.get("reason") or "no reason is known"
        console.err().print(f"[bold red]{summary.get('status')}[/]: {reason}")
    pairs = {"status": summary.get("status")}
    for key, words in _SHOWN.items():
        value = _at(summary, key)
        if isinstance(value, list):
            value = ", ".join(one["joint"] for one in value) or None
        if value is not None:
            pairs[words] = value
    if options.output is not None:
        pairs["written"] = options.output
    console.print_pairs(pairs)


_SHOWN = {
    "verdict.status": "verdict",
    "verification.horizon": "independent of dt up to [s]",
    "verification.order": "observed order",
    "verification.position_error": "position error by dt [m]",
    "accuracy.position_error": "position error [m]",
    "accuracy.dt": "chosen dt [s]",
    "accuracy.formulation": "chosen formulation",
    "accuracy.integrator": "chosen integrator",
    "steps": "steps",
    "time": "simulated time [s]",
    "energy.max_relative_drift": "energy drift",
    "energy.returned.share": "returned by joints, share",
    "joints.max_position_error": "joint error [m]",
    "joints.not_unique": "reactions not unique",
    "contacts.max_penetration": "penetration [m]",
    "solver.max_residual": "solver residual",
    "timing.total_s": "wall clock [s]",
    "timing.per_step_us": "per step [us]",
    "timing.real_time_factor": "real-time factor",
    "state_hash": "final state",
}


def _at(summary: Mapping[str, Any], key: str) -> Any:
    value: Any = summary
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
