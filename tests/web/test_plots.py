"""Plots of what hardly varies, or is hardly more than nothing: rounding that a run has at rest."""

import math
from typing import Any

import pytest

from tests.web.conftest import new_context
from tests.web.shown import PATIENCE, SMALL, Shown

pytestmark = pytest.mark.e2e

# a plot of its own, drawn by what the page draws its plots with
TICKS = """async ({ values, log }) => {
  const { src } = document.querySelector("script[type=module]");
  const [{ Plot }, { default: library }] = await Promise.all([import(new URL("plot.js", src)), import("uplot")]);
  const plot = new Plot({ title: "alone", log, curves: [{ label: "one", value: () => 0 }] }, {});
  document.body.append(plot.element);
  values.forEach((value, i) => plot.series.push(i, [value]));
  plot.update(library, 0);
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  plot.element.remove();
  return { ticks: plot.ticks, letters: parseFloat(plot.chart.ctx.font) / devicePixelRatio };
}"""  # noqa: E501


def after(value: float) -> float:
    return math.nextafter(value, math.inf)


CASES: list[tuple[list[float], bool]] = [
    ([1300, after(1300)], False),
    ([-0.37, after(-0.37)], False),
    ([5e9, after(5e9)], False),
    ([3e20, after(3e20)], False),
    ([0, 5e-324], False),
    ([7, 7], False),
    ([4e-31, 2e-26], True),
    ([8.4e-323, 1.7e-16], True),
    ([2e-24, 5e-22], True),
    ([1e-30, 3e-15], True),
    ([1e-32, 3e-24], True),
    ([5e-324, 1e-310], True),
    ([1e-17, 1e-3], True),
    ([1e-300, 1e300], True),
]


def test_every_axis_has_an_end(page: Any, shown: Shown) -> None:
    """The page stood still for seconds where ticks lay closer than digits tell them apart."""
    page.set_viewport_size(SMALL)
    shown.open("double-pendulum", paused=True)
    for values, log in CASES:
        ticks = page.evaluate(TICKS, {"values": values, "log": log})["ticks"]
        assert len(ticks) < 100, (values, log)


@pytest.mark.parametrize("density", [1, 2, 3])
def test_ticks_are_as_large_on_dense_screens(browser: Any, server: str, density: int) -> None:
    """On a telephone they had letters of 3 px."""
    context = new_context(browser, viewport=SMALL, device_scale_factor=density)
    shown = Shown(context.new_page(), server)
    shown.page.set_default_timeout(PATIENCE)
    shown.open("double-pendulum", paused=True)
    assert shown.page.evaluate(TICKS, {"values": [1, 2], "log": False})["letters"] == 11
    context.close()


def test_the_mark_of_the_moment_colours_no_ticks(page: Any, shown: Shown) -> None:
    """Where nothing had been recorded, the ticks of the next picture had the colour of the mark."""
    page.set_viewport_size(SMALL)
    shown.open("double-pendulum", paused=True)
    inks = page.evaluate("""() => new Promise((resolve) => {
      const inks = new Set(), fillText = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (...words) {
        inks.add(this.fillStyle);
        return fillText.apply(this, words);
      };
      const { src } = document.querySelector("script[type=module]");
      Promise.all([import(new URL("plot.js", src)), import("uplot")]).then(async ([{ Plot }, { default: library }]) => {
        const plot = new Plot({ title: "alone", curves: [{ label: "one", value: () => 0 }, { label: "two", value: () => 0, scale: "right" }] }, {});
        document.body.append(plot.element);
        for (let times = 0; times < 2; times += 1) {
          plot.update(library, 0);
          await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
        }
        plot.element.remove();
        CanvasRenderingContext2D.prototype.fillText = fillText;
        resolve([...inks]);
      });
    })""")  # noqa: E501
    assert len(inks) == 1


def test_a_long_table_says_which_rows_it_lists(page: Any, shown: Shown) -> None:
    """It was every 2th one."""
    page.set_viewport_size(SMALL)
    shown.open("double-pendulum", paused=True)
    page.evaluate("""async () => {
      const { src } = document.querySelector("script[type=module]");
      const [{ Plot }, table] = await Promise.all(["plot.js", "plot_table.js"].map((name) => import(new URL(name, src))));
      const plot = new Plot({ title: "alone", curves: [{ label: "one", value: () => 0 }] }, {});
      for (let i = 0; i < 250; i += 1) plot.series.push(i, [i]);
      table.showTable(plot, "run");
    }""")  # noqa: E501
    words = page.get_by_role("dialog", name="alone").inner_text()
    assert "One row of 2 is listed; the file has all 250." in words
