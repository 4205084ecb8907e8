"""The chart of the README: `make chart` draws it from the committed comparisons."""

import json
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.report import FOLDER

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "peers.svg"
WON, MISSED, SINGLE = "#2b6cb0", "#c05621", "#718096"


def fastest(engines: dict[str, Any], floats: tuple[int, ...]) -> float:
    """The least time of a step of any other engine that works with so many bits [us]."""
    return min(
        one["us"]
        for name, one in engines.items()
        if not name.startswith("Cardan") and one["floats"] in floats and one["finite"]
    )


def ratios(file: str) -> dict[str, tuple[float, float]]:
    """Scene: time of our step by that of the fastest double-precision engine, and of any engine."""
    scenes = json.loads((FOLDER / file).read_text(encoding="utf-8"))["scenes"]
    return {
        name: (
            engines["Cardan"]["us"] / fastest(engines, (64,)),
            engines["Cardan"]["us"] / fastest(engines, (32, 64)),
        )
        for name, engines in scenes.items()
    }


def draw(axes: Axes, found: dict[str, tuple[float, float]], title: str) -> None:
    """Bars: against double precision; ticks: against any engine."""
    names, values = list(found), [double for double, _ in found.values()]
    colours = [WON if value <= 1.0 else MISSED for value in values]
    axes.barh(names, values, color=colours, height=0.6)
    for i, (double, single) in enumerate(found.values()):
        axes.plot([single, single], [i - 0.38, i + 0.38], color=SINGLE, linewidth=2)
        axes.annotate(f"{double:.2f}", (double, i), (4, 0), textcoords="offset points", va="center")
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_title(title, loc="left")
    axes.set_xlim(0.0, 1.15 * max(max(pair) for pair in found.values()))
    axes.spines[["top", "right"]].set_visible(False)


def main() -> None:
    """Draw both comparisons."""
    figure = Figure(figsize=(9.0, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw(left, ratios("contacts.json"), "contact scenes")
    draw(right, ratios("articulated.json"), "articulated scenes")
    figure.supxlabel(
        "time of a step ÷ that of the fastest double-precision engine "
        "(grey: the fastest of any), less is faster",
        fontsize=9,
    )
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
