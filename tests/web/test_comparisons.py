"""The comparisons of the gallery: what they promise is right, and the engine keeps it."""

import json
import math
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipk

from cardan.engine import run
from cardan.schemas import load_scene
from tests.web.conftest import WEB
from tests.web.shown import SMALL, Shown

COMPARISONS = {
    one["name"]: one
    for one in json.loads((WEB / "comparisons.json").read_text())["comparisons"]
}  # fmt: skip
G = 9.81


def closed_forms(name: str) -> list[float]:
    """What the numbers of a comparison are, by theory, in their order."""
    match name:
        case "two-coordinates":
            # a bar of 1 m by 0.1 m about its end: both runs are there and back
            return [-0.5, -0.5, 0.5, 0.5]
        case "two-updates":
            exact, behind = 20.0, 100 * 4.0 * math.atan(0.01 * 20.0 / 4.0)
            return [math.remainder(angle, math.tau) for angle in (exact, behind)]
        case "cone-and-pyramid":
            way = 2.0**2 / (2.0 * 0.3 * G)
            return [way / math.sqrt(2.0), math.sqrt(2.0) * way / math.sqrt(2.0)]
        case "two-solvers":
            return [5 * 2.0 * G, 5 * 2.0 * G, 0.9, 0.9]
        case "two-impacts":
            n = 5
            return [0.0, 1.0, (2 - n) / n, 2 / n]
    raise AssertionError(f"no theory for {name}")


def with_overrides(scene: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    changed = deepcopy(scene)
    for pointer, value in overrides.items():
        *path, last = pointer.strip("/").split("/")
        place = changed
        for key in path:
            place = place.setdefault(key, {})
        place[last] = value
    return changed


def measured(tables: dict[str, Any], number: dict[str, Any]) -> float:
    """As web/compared.js does: at the recorded moment nearest to `at`."""
    name, what = number["body"], number["of"]
    table = tables["contacts" if what == "normal_force" else "bodies"]
    times = np.asarray(table["time"])
    there = np.abs(times - number["at"]) <= np.abs(times - number["at"]).min() + 1e-9
    if what == "normal_force":
        on = (np.asarray(table["body_a"]) == name) | (np.asarray(table["body_b"]) == name)
        return float(np.asarray(table["normal_force"])[there & on].sum())
    row = np.flatnonzero(there & (np.asarray(table["body"]) == name))[0]
    if what == "angle":
        qw, qz = (float(table[column][row]) for column in ("qw", "qz"))
        return math.remainder(2.0 * math.atan2(qz, qw), math.tau)
    return float(table[what if what.startswith("v") else f"p{what}"][row])


@pytest.mark.parametrize("name", COMPARISONS)
def test_what_is_promised_is_the_theory_and_the_engine_keeps_it(name: str) -> None:
    one = COMPARISONS[name]
    tables = []
    for each in one["runs"]:
        recording, summary = run(load_scene(with_overrides(one["scene"], each["overrides"])))
        assert summary["verdict"]["status"] != "wrong"
        tables.append(recording.tables())
    for number, theory in zip(one["numbers"], closed_forms(name), strict=True):
        assert number["expected"] == pytest.approx(theory, abs=1e-9)
        assert measured(tables[number["run"]], number) == pytest.approx(
            theory, abs=number["within"]
        ), number


def test_moments_of_the_pendulum_are_its_half_and_whole_period() -> None:
    inertia = (1.0**2 + 0.1**2) / 12.0 + 0.25
    period = 4.0 * float(ellipk(0.5)) / math.sqrt(G * 0.5 / inertia)
    half, _, whole, _ = (number["at"] for number in COMPARISONS["two-coordinates"]["numbers"])
    assert (half, whole) == pytest.approx((period / 2.0, period), abs=1e-9)


@pytest.mark.e2e
@pytest.mark.painted
def test_a_comparison_of_the_gallery_has_its_numbers(page: Any, server: str, shown: Shown) -> None:
    """Both runs in one timeline; what theory gives, what each reached; one beside the other."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    page.set_viewport_size(SMALL)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server}/#compare=two-impacts")
    rows = page.locator("#compare-numbers tbody")
    api.expect(rows).to_have_count(4)
    assert [row.get_attribute("data-met") for row in rows.all()] == ["true"] * 4
    # the gallery and the address need the same list
    assert sum(url.endswith("/comparisons.json") for url in asked) == 1
    page.keyboard.press("End")
    shown.wait("cardan.shown().time > 1.499 && cardan.ghost('ball-5')")
    # in turn the last one leaves with 1 m/s, at once with 0.4
    last, ghost = shown.pose("ball-5")[0], page.evaluate("cardan.ghost('ball-5')")[0]
    assert (last - 0.8) / (ghost - 0.8) == pytest.approx(1.0 / 0.4, rel=1e-3)
    shown.wait("cardan.pinned()[0].times.at(-1) > 1.499")
    plot = page.evaluate("cardan.pinned()")[0]
    assert plot["values"][0][-1] > abs(last - ghost) - 1e-3
    # this run less the other: the first ball is left at rest, and thrown back with 0.6 m/s
    off = {one["title"]: one for one in page.evaluate("cardan.pinned()")}
    assert set(off) >= {"Difference: position of ball-1 [m]", "Difference: energy [J]"}
    way = off["Difference: position of ball-1 [m]"]
    (t1, t2), (d1, d2) = way["times"][-2:], way["values"][0][-2:]
    assert (d2 - d1) / (t2 - t1) == pytest.approx((5 - 2) / 5, rel=1e-3)
    page.get_by_label("Plot the difference of a channel").select_option("Velocity of ball-5 [m/s]")
    shown.wait("cardan.pinned().some((one) => one.title.startsWith('Difference: velocity'))")
    shown.wait("cardan.pinned().at(-1).times.at(-1) > 1.499")
    rate = page.evaluate("cardan.pinned().at(-1)")
    assert rate["values"][0][-1] == pytest.approx(1.0 - 2 / 5, rel=1e-3)
    beside = page.get_by_role("button", name="Side by side")
    beside.click()
    api.expect(beside).to_have_attribute("aria-pressed", "true")
    in_halves(page, shown)
    api.expect(page.locator("#gallery [aria-current=true]")).to_contain_text("Five balls")
    page.get_by_role("button", name="Hide").click()
    api.expect(page.locator("#compare-details")).to_be_hidden()
    assert page.evaluate("cardan.pinned()") == []
    # one that there is not, typed into the address of the page
    page.goto(f"{server}/#compare=neither")
    api.expect(page.locator("#messages")).to_contain_text("There is no comparison “neither”.")


def in_halves(page: Any, shown: Shown) -> None:
    """Each run alone in a half of the view, seen by one camera at the moment of one timeline."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    halves = page.get_by_role("button", name="Two halves")
    halves.click()
    api.expect(halves).to_have_attribute("aria-pressed", "true")
    api.expect(page.get_by_role("button", name="Side by side")).to_have_attribute(
        "aria-pressed", "false"
    )
    names = page.locator("#halves span")
    labels = [run["label"] for run in COMPARISONS["two-impacts"]["runs"]]
    assert names.all_text_contents() == labels
    page.keyboard.press("Home")
    shown.wait("cardan.shown().step === 0")
    # at the start both are alike, and so are the pictures but for edges between two dots
    alike = unlike(page)
    assert alike < 0.005
    page.keyboard.press("End")
    shown.wait("cardan.shown().time > 1.499")
    assert unlike(page) > 2.0 * alike
    # the ball that each half has under the pointer is that of its own run
    box = page.locator("#stage canvas").bounding_box()
    at = page.evaluate("cardan.screen('ball-1')")
    assert at["x"] < box["x"] + box["width"] / 2
    page.mouse.click(at["x"], at["y"])
    api.expect(page.locator("#inspector")).to_contain_text("ball-1")
    halves.click()
    api.expect(page.locator("#halves")).to_be_hidden()


def unlike(page: Any) -> float:
    """The share of places of the left half that have another colour in the right one."""
    left = [[0.01 * i, 0.02 * k] for i in range(1, 49) for k in range(10, 40)]
    right = [[x + 0.5, y] for x, y in left]
    both = np.array(page.evaluate("(places) => cardan.colours(places)", [*left, *right]), float)
    return float((np.abs(both[: len(left)] - both[len(left) :]).max(axis=1) > 40).mean())
