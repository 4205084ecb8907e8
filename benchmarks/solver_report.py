"""Plots and tables of the comparison of solvers, into docs/solvers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks import solver_scenes
from benchmarks.pages import fill, row
from benchmarks.plots import STYLE

Problems = list[dict[str, Any]]

COULOMB = ("Jacobi", "Gauss-Seidel", "SOR 1.3", "PGS-SM", "NNCG", "APGD", "proximal Newton")
RELAXED = ("Gauss-Seidel on cones", "APGD on cones")
COLOURS = dict(zip((*COULOMB, *RELAXED), mpl.color_sequences["tab10"], strict=False))
# tolerances of the profiles, by their place in the report's list
SHOWN = {"1e-4": 2, "1e-8": 6}
LARGEST_RATIO = 100.0


def ratios(problems: Problems, lines: Sequence[str], place: int) -> dict[str, list[float]]:
    """Time of each line over that of the fastest, on problems that some line solved."""
    out: dict[str, list[float]] = {line: [] for line in lines}
    for problem in problems:
        seconds = {line: problem["lines"][line]["seconds"][place] for line in lines}
        known = [value for value in seconds.values() if value is not None]
        if not known:
            continue
        best = max(min(known), 1e-7)
        for line, value in seconds.items():
            out[line].append(np.inf if value is None else max(value, 1e-7) / best)
    return out


def draw_profile(axes: Axes, problems: Problems, lines: Sequence[str], place: int) -> None:
    """Share of the problems that a line solves within a factor of the fastest (Dolan, More)."""
    factor = np.geomspace(1.0, LARGEST_RATIO, 200)
    for line, values in ratios(problems, lines, place).items():
        share = [np.mean(np.array(values) <= f * (1 + 1e-12)) for f in factor]
        axes.step(factor, share, where="post", label=line, color=COLOURS[line])
    axes.set(xscale="log", ylim=(0.0, 1.02), xlim=(1.0, LARGEST_RATIO))
    axes.set(xlabel="time over that of the fastest", ylabel="share of problems solved")


def profiles(figure: Figure, report: dict[str, Any]) -> None:
    """Coulomb's law: profiles for a rough and for a fine tolerance."""
    for axes, (text, place) in zip(figure.subplots(1, 2), SHOWN.items(), strict=True):
        draw_profile(axes, report["problems"], COULOMB, place)
        axes.set_title(f"Coulomb's law to {text}")
    axes.legend(loc="lower right")


def relaxation(figure: Figure, report: dict[str, Any]) -> None:
    """The relaxation: the same for the two methods on cones."""
    for axes, (text, place) in zip(figure.subplots(1, 2), SHOWN.items(), strict=True):
        draw_profile(axes, report["problems"], RELAXED, place)
        axes.set_title(f"convex relaxation to {text}")
    axes.legend(loc="lower right")


def draw_convergence(axes: Axes, problem: dict[str, Any], lines: Sequence[str]) -> None:
    """Residual against processor time."""
    for line in lines:
        found = problem["lines"][line]
        if found["per_iteration"] is not None:
            curve = np.array(found["curve"])
            x, y = curve[:, 0] * found["per_iteration"], curve[:, 1]
        else:
            x = [s for s in found["seconds"] if s is not None]
            y = np.array([tolerance for _, tolerance in found["curve"]])
        if len(x):
            axes.loglog(x, np.maximum(y, 1e-10), label=line, color=COLOURS[line])
    axes.set(ylim=(1e-9, 10.0))
    axes.set_title(f"{problem['name']}\n{problem['contacts']} contacts", fontsize=8)


def convergence(figure: Figure, report: dict[str, Any]) -> None:
    """Residuals over time: three published problems, and all piles."""
    wanted = ("Capsules-i125-1213", "Spheres-i099-356-679", "FrictionContactProblem00727")
    chosen = [one for one in report["problems"] if one["pile"] or one["name"] in wanted]
    grid = figure.subplots(2, 3).ravel()
    for axes, problem in zip(grid, chosen, strict=False):
        draw_convergence(axes, problem, COULOMB)
        axes.set(xlabel="processor time [s]", ylabel="residual / |q|")
    grid[0].legend(loc="lower left", fontsize=6)


def convergence_relaxed(figure: Figure, report: dict[str, Any]) -> None:
    """Residuals over time on the piles: methods on cones, and Gauss-Seidel on Coulomb's law."""
    chosen = [one for one in report["problems"] if one["pile"]]
    for axes, problem in zip(figure.subplots(1, 3), chosen, strict=False):
        draw_convergence(axes, problem, (*RELAXED, "Gauss-Seidel", "APGD"))
        axes.set(xlabel="processor time [s]", ylabel="residual of its own law / |q|")
    axes.legend(loc="lower left", fontsize=6)


PLOTS: dict[str, tuple[Callable[[Figure, dict[str, Any]], None], tuple[float, float]]] = {
    "profiles": (profiles, (8.0, 3.4)),
    "relaxation": (relaxation, (8.0, 3.4)),
    "convergence": (convergence, (9.0, 5.6)),
    "convergence-relaxed": (convergence_relaxed, (9.0, 3.2)),
}


def cell(count: float | None, seconds: float | None) -> str:
    """Iterations and time, or that it was not reached."""
    if count is None or seconds is None:
        return "-"
    return f"{count:.0f} / {1e3 * seconds:.3g} ms"


def pile_table(problems: Problems) -> str:
    """Iterations and time of every line on every pile."""
    places = (0, 1, 2, 4, 6)
    head = ("pile", "method", "1e-2", "1e-3", "1e-4", "1e-6", "1e-8")
    lines = [row(head), row(("---",) * len(head))]
    for problem in problems:
        if not problem["pile"]:
            continue
        for name, found in problem["lines"].items():
            cells = [cell(found["iterations"][k], found["seconds"][k]) for k in places]
            title = f"{problem['name']}, {problem['contacts']} contacts"
            lines.append(row((title, name, *cells)))
    return "\n".join(lines)


def solved_table(problems: Problems) -> str:
    """How many problems each line solves to each tolerance, and how fast, in the middle."""
    places = (0, 2, 4, 6)
    head = (
        "method",
        *(f"{text}: solved / median ratio" for text in ("1e-2", "1e-4", "1e-6", "1e-8")),
    )
    lines = [row(head), row(("---",) * len(head))]
    for group in (COULOMB, RELAXED):
        found = {place: ratios(problems, group, place) for place in places}
        for name in group:
            cells = []
            for place in places:
                values = np.array(found[place][name])
                solved = values[np.isfinite(values)]
                middle = f"{np.median(solved):.1f}" if len(solved) else "-"
                cells.append(f"{len(solved)} of {len(problems)} / {middle}")
            lines.append(row((name, *cells)))
    return "\n".join(lines)


def exactness_table(problems: Problems) -> str:
    """What `auto` reaches, and how far the relaxation is from Coulomb's law."""
    head = (
        "problem",
        "contacts",
        "`auto`: Coulomb error",
        "time",
        "ended by",
        "relaxed: Coulomb error",
    )
    lines = [row(head), row(("---",) * len(head))]
    for problem in problems:
        auto = problem["auto"]
        if auto is None:
            continue
        away = problem["lines"]["APGD on cones"]["coulomb_error"]
        lines.append(
            row(
                (
                    f"`{problem['name']}`",
                    str(problem["contacts"]),
                    f"{auto['coulomb_error']:.1e}",
                    f"{1e3 * auto['seconds']:.3g} ms",
                    auto["method"],
                    f"{away:.1e}",
                )
            )
        )
    return "\n".join(lines)


def write(report: dict[str, Any], folder: Path) -> None:
    """All plots, and the tables of the README."""
    for name, (draw, size) in PLOTS.items():
        with mpl.rc_context(STYLE):
            figure = Figure(figsize=size, layout="constrained")
            draw(figure, report)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    page = folder / "README.md"
    machine = report["machine"]
    fill(page, "machine", f"{machine['processor']}, one thread, Python {machine['python']}.")
    fill(page, "solved", solved_table(report["problems"]))
    fill(page, "piles", pile_table(report["problems"]))
    fill(page, "exactness", exactness_table(report["problems"]))
    fill(page, "scenes", solver_scenes.table(report["scenes"]))
