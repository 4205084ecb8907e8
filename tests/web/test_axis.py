"""Axes of plots in SVG: round ticks within the range, with labels that differ."""

from itertools import pairwise

import pytest

from tests.web.modules import run_module

TICKS = """
  const { log, ticks, share } = axisOf(input.values, input.wanted);
  return { log, ticks, shares: input.values.map(share) };
"""


@pytest.mark.parametrize(
    ("values", "log"),
    [
        ([0, 1], False),
        ([39.2401, 39.2409], False),
        ([-5e-7, 2e-7], False),
        ([3, 3], False),
        ([0, 0], False),
        ([123456, 987654], False),
        ([1e-15, 2e-3], True),
        ([0.5, 51], True),
        ([0, 1e9], False),
        ([], False),
    ],
)
def test_ticks_are_round_and_told_apart(node: str, values: list[float], log: bool) -> None:
    found = run_module(node, "axis.js", "axisOf", TICKS, {"values": values, "wanted": True})
    assert found["log"] is log
    places, labels = zip(*found["ticks"], strict=True)
    assert 2 <= len(places) <= 7
    assert all(low < high for low, high in pairwise(places))
    assert len(set(labels)) == len(labels)
    assert all(0 <= share <= 1 for share in found["shares"])


def test_ticks_of_plots_are_printed_as_numbers_elsewhere(node: str) -> None:
    ticks = [1e-9, 2e-4, -0.5, 0, 7, 2e5]
    labels = run_module(node, "format.js", "tickLabels", "return tickLabels(input);", ticks)
    assert labels == ["10⁻⁹", "2·10⁻⁴", "\N{MINUS SIGN}0.5", "0", "7", "2·10⁵"]


def test_an_axis_is_logarithmic_only_where_that_is_wanted(node: str) -> None:
    asked = {"values": [1e-9, 1], "wanted": False}
    assert run_module(node, "axis.js", "axisOf", TICKS, asked)["log"] is False
