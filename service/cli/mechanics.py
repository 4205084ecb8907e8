"""`cardan statics` and `cardan linearize`: by the same code as over HTTP."""

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import orjson
import typer

from cardan.schemas import Scene, SceneInvalid
from cardan.schemas import statics as s
from cardan.service.cli import console
from cardan.service.cli.scene_source import read_scene
from cardan.service.compute.mechanics import compute

Ask = Callable[[Scene, Any], s.MechanicsRequest]
# largest rate of a state that is called an equilibrium [SI units of the coordinates]
AT_REST = 1e-6


def statics(
    source: str,
    changes: Sequence[str],
    *,
    search: bool,
    tilt: tuple[float, float, float] | None,
    as_json: bool,
) -> None:
    """Print the equilibrium of a scene; ends with 0, 2, or 3 where there is none."""
    if tilt is not None and not 0.0 < math.hypot(*tilt) < math.inf:
        given = " ".join(f"{value:g}" for value in tilt)
        console.stop(
            f"--tilt needs a direction: finite numbers, not all zero; found {given}.",
            as_json=as_json,
        )

    def ask(scene: Scene, document: Any) -> s.StaticsRequest:
        load = None
        if tilt is not None:
            if not math.hypot(*scene.gravity) > 0.0:
                console.stop("--tilt turns gravity, and the scene has none.", as_json=as_json)
            share = math.hypot(*scene.gravity) / math.hypot(*tilt)
            load = s.Load(acceleration=(share * tilt[0], share * tilt[1], share * tilt[2]))
        return s.StaticsRequest(scene=document, search=search, load=load)

    found = _answer(source, changes, ask, as_json=as_json)
    if as_json:
        console.print_json(found)
    else:
        _print_statics(found)
    if found["status"] != "equilibrium":
        raise typer.Exit(console.FAILED)


def linearize(source: str, changes: Sequence[str], *, as_json: bool) -> None:
    """Print the modes of a scene at its start; ends with 0 or 2."""

    def ask(_: Scene, document: Any) -> s.LinearizationRequest:
        return s.LinearizationRequest(scene=document)

    found = _answer(source, changes, ask, as_json=as_json)
    if as_json:
        console.print_json(found)
        return
    names, rows = found["coordinates"], []
    for mode in found["modes"]:
        real, imaginary = mode["eigenvalue"]
        sizes = [math.hypot(*part) for part in mode["shape"]["coordinates"]]
        moving = [name for name, size in zip(names, sizes, strict=True) if size > 0.1]
        rows.append(
            [
                f"{real:.6g} {imaginary:+.6g}i",
                f"{mode['frequency']:.6g}" if mode["frequency"] else "-",
                f"{mode['damping_ratio']:.4g}",
                ", ".join(moving[:6]) + (", ..." if len(moving) > 6 else ""),
            ]
        )
    if rows:
        console.print_table(["eigenvalue [1/s]", "frequency [Hz]", "damping ratio", "moves"], rows)
    else:
        console.print_pairs({"modes": "none: nothing is free to move"})
    if found["left_out"]:
        console.print_pairs({"left out": ", ".join(found["left_out"])})
    largest = max(map(abs, found["f0"]), default=0.0)
    if largest > AT_REST:
        console.err().print(
            f"note: the start is no equilibrium (rates of up to {largest:.3g}): these are modes"
            " about that moment. `cardan statics` finds where the scene comes to rest."
        )


def _answer(source: str, changes: Sequence[str], ask: Ask, *, as_json: bool) -> dict[str, Any]:
    """The answer as plain values; ends with 2 for a scene that is wrong."""
    try:
        scene, document = read_scene(source, changes)
        found = compute(scene, ask(scene, document))
    except SceneInvalid as error:
        console.stop_with_faults(error.errors, as_json=as_json)
    except ValueError as error:
        console.stop(str(error), as_json=as_json)
    plain: dict[str, Any] = json.loads(orjson.dumps(found, option=orjson.OPT_SERIALIZE_NUMPY))
    return plain


def _print_statics(found: dict[str, Any]) -> None:
    """What a reader wants to know first."""
    said: dict[str, Any] = {"status": found["status"]}
    if found["status"] != "equilibrium":
        said |= {"why": found["reason"], "unbalanced [N]": found["unbalanced"]}
    elif found["moved"]:
        said["found after"] = f"{found['steps']} steps"
    stability = found["stability"]
    if stability is not None:
        words = {True: "stable", False: "not stable", None: "neutral"}
        said["stability"] = words[stability["stable"]]
        said["frequencies [Hz]"] = ", ".join(f"{f:.6g}" for f in stability["frequencies"]) or "-"
    if found["indeterminate"]:
        said["reactions left open"] = found["indeterminate"]
    margin = found["margin"]
    if margin is not None and margin["factor"] is not None:
        said["gives way by"] = margin["gives_way"]
        said["largest tilt [deg]"] = math.degrees(math.atan(margin["factor"]))
    console.print_pairs(said)
    if found["joints"] and found["status"] == "equilibrium":
        rows = [
            [
                one["joint"],
                " ".join(f"{value:.5g}" for value in found["coordinates"].get(one["joint"], [])),
                " ".join(f"{value:.5g}" for value in one["force"]),
                " ".join(f"{value:.5g}" for value in one["torque"]),
            ]
            for one in found["joints"]
        ]
        console.print_table(["joint", "coordinates", "force [N]", "torque [N m]"], rows)
