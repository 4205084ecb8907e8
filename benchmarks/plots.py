"""Plots of the verification report, as small SVG files: ours against the published or exact curve.

Each function draws what the cases of the same name have computed already. Lines are thinned to what
a plot of this size can show.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from tests.laws.measures import LONG, SHORT, chain_energy
from tests.references import adams, closed_forms, heights

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "cardan",
    "axes.grid": True,
    "grid.alpha": 0.3,
    "lines.linewidth": 1.1,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "path.simplify": True,
    "path.simplify_threshold": 0.5,
}
SIZE = (7.2, 3.4)
SHOWN = (
    "Revolute_Case01",
    "Spherical_Case01",
    "Cylindrical_Case03",
    "Universal_Case01",
    "Distance_Case02",
    "RevSpherical_Case01",
    "RotSpring_Case01",
    "TranSpringCB_Case03",
)


class Plot(NamedTuple):
    """One picture: of which section, what it shows, and who draws it."""

    name: str
    section: str
    title: str
    draw: Callable[[Figure], None]


def joints(figure: Figure) -> None:
    """Position errors of the one-joint systems over time, and what is asked."""
    axes = figure.subplots()
    for name in SHOWN:
        error, _ = adams.errors(name, adams.POSITION)
        line = np.maximum(error[1::5], 1e-9)
        axes.semilogy(adams.TIMES[1::5], line, label=name.replace("_Case", " "))
    axes.axhline(3e-5, color="black", linestyle="--", label="asked (at the origin)")
    axes.set(xlabel="time [s]", ylabel="position error [m]", ylim=(1e-9, 1e-3))
    axes.legend(ncols=3, loc="lower right")


def dzhanibekov(figure: Figure) -> None:
    """The rate about the middle axis, published and ours, and their difference."""
    above, below = figure.subplots(2, sharex=True)
    t, published, ours = closed_forms.dzhanibekov_curves()
    above.plot(t[::20], published[::20, 5], label="published", linewidth=3, alpha=0.35)
    above.plot(t[::20], ours[::20, 5], label="ours, steps of 0.01 s")
    above.set_ylabel("middle rate [rad/s]")
    above.legend(loc="lower left")
    error = np.abs(ours - published)[:, 4:].max(1)
    below.semilogy(t[1::20], np.maximum(error[1::20], 1e-17), color="tab:red")
    below.set(xlabel="time [s]", ylabel="difference")


def heavy_top(figure: Figure) -> None:
    """The height of a fast top's centre, published and ours."""
    above, below = figure.subplots(2, sharex=True)
    t, published, ours = closed_forms.heavy_top_curves(1e-4)
    above.plot(t[::4], published[::4, 2], label="published", linewidth=3, alpha=0.35)
    above.plot(t[::4], ours[::4, 2], label="ours, steps of 1e-4 s")
    above.set_ylabel("height [m]")
    above.legend(loc="lower left")
    error = np.linalg.norm(ours - published, axis=1)
    below.semilogy(t[1::4], error[1::4], color="tab:red")
    below.set(xlabel="time [s]", ylabel="difference [m]")


def chains(figure: Figure) -> None:
    """Energy errors of chains over ten seconds."""
    axes = figure.subplots()
    for kind, n, dt in SHORT + LONG:
        curve, _ = chain_energy(kind, n, dt)
        label = f"{n} rods on {kind}s, {1e3 * dt:g} ms"
        axes.plot(0.05 * np.arange(len(curve)), curve, label=label)
    axes.axhline(1e-3, color="black", linestyle="--", label="asked")
    axes.axhline(-1e-3, color="black", linestyle="--")
    axes.set(xlabel="time [s]", ylabel="energy error / largest kinetic energy")
    axes.legend(ncols=2, loc="lower left")


def bouncing(figure: Figure) -> None:
    """A ball that bounces with e = 0.8, exact and ours."""
    axes = figure.subplots()
    t, exact, ours = heights.bouncing_curves()
    axes.plot(t, exact, label="exact", linewidth=3, alpha=0.35)
    axes.plot(t, ours, label="ours, steps of 1 ms")
    axes.set(xlabel="time [s]", ylabel="height of the ball [m]")
    axes.legend()


PLOTS = (
    Plot("joints", "joints", "Position errors against ADAMS or the exact motion", joints),
    Plot("dzhanibekov", "closed-forms", "A minute of tumbling about the middle axis", dzhanibekov),
    Plot("heavy-top", "closed-forms", "A top at 150 rad/s", heavy_top),
    Plot("bouncing", "closed-forms", "A ball that bounces with e = 0.8", bouncing),
    Plot("chains", "laws", "Energy of chains let go from the horizontal", chains),
)


def draw(plot: Plot, folder: Path) -> None:
    """Write one picture."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=SIZE, layout="constrained")
        plot.draw(figure)
        figure.savefig(folder / f"{plot.name}.svg", metadata={"Date": None})
