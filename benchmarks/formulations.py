"""Both formulations on the same scenes: drift, price against the number of links, loops.

`python -m benchmarks.formulations` measures, draws, and writes docs/formulations: the comparison
that Articulated Notes n.d. make in words, in figures. Times are the thread's own.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.plots import STYLE
from cardan import engine
from cardan.schemas import load_scene
from tests.laws.measures import chain
from tests.references.mechanism_scenes import four_bars

FOLDER = Path("docs/formulations")
FORMULATIONS = ("maximal", "reduced")
LINKS = (1, 2, 5, 10, 20, 50, 100)
LOOPS = (1, 2, 5, 10, 20, 40)
# s of motion that are compared, steps that are timed at least
SECONDS, TIMED = 2.0, 400
LIMIT_S = 20.0
INTRO = """# Both formulations, measured

Chains of rods of 0.2 m let go from the horizontal, and rows of four-bars (benchmark A02: 2 N + 1
bars, N loops; two equations in three say nothing new) that start upright; {seconds:g} s in steps of
1 ms. Written by `python -m benchmarks.formulations`.

*energy*: largest error over the largest kinetic energy. *joint*: how far anchors were apart at most
[m]. *us*: one step, processor time, on {machine}, which was busy: compare within this table.

"""


def measure(scene: dict[str, Any], formulation: str) -> dict[str, float]:
    """One scene in one formulation."""
    options = {**scene.get("simulation", {}), "formulation": formulation, "duration": SECONDS}
    simulation = engine.Simulation(load_scene(scene | {"simulation": options}))
    simulation.advance(1)
    seconds, steps = 0.0, 0
    while simulation.step_count < simulation.total_steps and seconds < LIMIT_S:
        began = time.thread_time()
        steps += simulation.advance(TIMED)
        seconds += time.thread_time() - began
    summary = simulation.summary()
    return {
        "rows": simulation.solver_report()["rows"],
        "energy": summary["energy"]["max_relative_drift"],
        "joint": summary["joints"]["max_position_error"],
        "residual": summary["solver"]["max_residual"],
        "us": 1e6 * seconds / max(steps, 1),
    }


def families() -> dict[str, dict[int, dict[str, Any]]]:
    """Name -> size -> scene."""
    return {
        "balls": {n: chain(n, "ball") for n in LINKS},
        "hinges": {n: chain(n, "hinge") for n in LINKS},
        "four-bars": {n: four_bars(n) for n in LOOPS},
    }


def draw(found: dict[str, Any], field: str, label: str) -> Figure:
    """One figure against the size, both axes logarithmic."""
    figure = Figure(figsize=(7.2, 3.2))
    axes = figure.subplots(1, len(found), sharey=True)
    for place, (name, sizes) in zip(axes, found.items(), strict=True):
        for formulation in FORMULATIONS:
            values = [max(sizes[n][formulation][field], 1e-17) for n in sizes]
            place.loglog([int(n) for n in sizes], values, "o-", markersize=3, label=formulation)
        place.set_title(name, fontsize=9)
        place.set_xlabel("loops" if name == "four-bars" else "links")
    axes[0].set_ylabel(label)
    axes[0].legend()
    figure.tight_layout()
    return figure


def text(found: dict[str, Any], machine: str) -> str:
    """The report."""
    parts = [INTRO.format(seconds=SECONDS, machine=machine)]
    for name, sizes in found.items():
        parts.append(f"## {name.capitalize()}\n\n")
        head = "| | rows | energy | joint | us | rows | energy | joint | us |\n"
        parts.append("| | maximal | | | | reduced | | | |\n")
        parts.append("|---|---|---|---|---|---|---|---|---|\n" + head)
        for n, both in sizes.items():
            cells = [str(n)]
            for formulation in FORMULATIONS:
                one = both[formulation]
                cells += [f"{one['rows']:g}", f"{one['energy']:.1e}", f"{one['joint']:.1e}"]
                cells.append(f"{one['us']:.1f}")
            parts.append("| " + " | ".join(cells) + " |\n")
        parts.append("\n")
    for field in ("us", "energy", "joint"):
        parts.append(f"![{field}]({field}.svg)\n\n")
    return "".join(parts).rstrip() + "\n"


def main() -> None:
    """Measure everything, or draw again what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true", help="only draw the last figures again")
    kept = FOLDER / "figures.json"
    FOLDER.mkdir(parents=True, exist_ok=True)
    if parser.parse_args().draw:
        found = json.loads(kept.read_text())
    else:
        found = {}
        for name, sizes in families().items():
            found[name] = {}
            for n, scene in sizes.items():
                found[name][n] = {f: measure(scene, f) for f in FORMULATIONS}
                print(name, n, found[name][n], flush=True)
        kept.write_text(json.dumps(found, indent=1) + "\n")
    with mpl.rc_context(STYLE):
        for field, label in (("us", "us a step"), ("energy", "energy error"), ("joint", "m")):
            draw(found, field, label).savefig(FOLDER / f"{field}.svg", metadata={"Date": None})
    (FOLDER / "README.md").write_text(text(found, "one core"))


if __name__ == "__main__":
    main()
