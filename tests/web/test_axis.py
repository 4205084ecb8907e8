"""Axes of plots in SVG: round ticks within the range, with labels that differ."""

from itertools import pairwise

import numpy as np
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


def test_vectors_show_what_they_have_at_any_size(node: str) -> None:
    """Momenta of a watch and of a crane; three zeros, or numbers that are cut off, say nothing."""
    given = [
        [0.324, 0.0, -12.5],
        [0, 0, 0],
        [1e-12, 0, 0],
        [3.2e-7, 0, -1.05e-6],
        [-158747.123, 2373.223, 210345.1],
        [99999.5, 0, 0],
    ]
    words = run_module(
        node, "format.js", "vector", "return input.map((one) => vector(one));", given
    )
    assert words == [
        "0.324  0.000  \u221212.500",
        "0.000  0.000  0.000",
        "0.000  0.000  0.000",
        "0.320  0.000  \u22121.050 ·10⁻⁶",
        "\u22121.587  0.024  2.103 ·10⁵",
        "99999.500  0.000  0.000",
    ]
    body = "return vector([0, 0, -0.05], 'm/s²', 2);"
    assert run_module(node, "format.js", "vector", body) == "0.00  0.00  \u22125.00 ·10⁻² m/s²"


def test_lengths_are_read_in_their_unit(node: str) -> None:
    given = [2e-6, 5e-4, 0.005, 0.01, 0.5, 100]
    words = run_module(node, "format.js", "length", "return input.map(length);", given)
    assert [word.replace("\u00a0", " ") for word in words] == [
        "2 µm", "0.5 mm", "5 mm", "0.01 m", "0.5 m", "100 m",
    ]  # fmt: skip


def test_times_have_the_digits_that_tell_steps_apart(node: str) -> None:
    given = [[0.5, None], [0.5, 0.002], [0.5, 1 / 240], [0.5, 5e-4], [0.00012, 1e-5], [1, 1e-12]]
    body = "return input.map(([time, step]) => seconds(time, step ?? undefined));"
    assert run_module(node, "format.js", "seconds", body, given) == [
        "0.500 s", "0.500 s", "0.500 s", "0.5000 s", "0.00012 s", "1.000000000 s",
    ]  # fmt: skip


def test_one_thing_is_not_many(node: str) -> None:
    body = "return input.map((n) => [count(n, 'run'), count(n, 'batch', 'batches')]).flat();"
    words = run_module(node, "format.js", "count", body, [0, 1, 2])
    assert words == ["0 runs", "0 batches", "1 run", "1 batch", "2 runs", "2 batches"]


def test_numbers_of_files_have_the_digits_that_were_sent(node: str) -> None:
    """Read again in single precision they are the same; an absent body has no number."""
    given = [0.05, -0.08660254, 1 / 3, 16777216.0, 1e-30, 0.0, 123456.789]
    body = "return Array.from(new Float32Array([...input, NaN]), single);"
    found = run_module(node, "format.js", "single", body, given)
    assert found[:3] == [0.05, -0.08660254, 0.33333334]
    assert np.array_equal(np.array(found[:-1], np.float32), np.array(given, np.float32))
    assert found[-1] is None
