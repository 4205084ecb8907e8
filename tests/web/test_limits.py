"""Limits of joints in the view: the values that are drawn are the coordinates of the engine."""

import math
from typing import Any

import httpx
import pytest

from tests.web.shown import SMALL, Shown

pytestmark = pytest.mark.e2e

TURNED = [0.9, 0.1, -0.3, 0.3]


def body(name: str, at: tuple[float, float, float]) -> dict[str, Any]:
    box = [{"type": "box", "size": [0.1, 0.2, 0.3]}]
    return {"name": name, "mass": 1, "position": at, "orientation": TURNED, "shapes": box}


def joint(kind: str, **fields: Any) -> dict[str, Any]:
    return {"name": kind, "type": kind, "parent": "world", "child": kind, **fields}


def between(lower: float, upper: float) -> dict[str, float]:
    return {"lower": lower, "upper": upper}


# one joint of each kind that has stops, away from zero and turned against the axes of the scene
KINDS = ("hinge", "slider", "cylindrical", "universal", "hinge2", "screw", "planar", "ball")
AXIS = [0.2, 1.0, 0.3]
SKEW = [1.0, -0.2, 0.0]
SCENE: dict[str, Any] = {
    "version": 1,
    "name": "stops",
    "gravity": [0, 0, 0],
    "simulation": {"dt": 0.002, "duration": 600},
    "bodies": [
        *(body(name, (i, 0.1, 0.2)) for i, name in enumerate(KINDS)),
        body("distance", (8, 0, 1)),
    ],
    "joints": [
        joint("hinge", anchor=[0, 0, 0], axis=AXIS, limits=between(-0.5, 7.0),
              initial={"position": 0.4, "velocity": 1.0}),
        joint("slider", axis=AXIS, limits={"lower": -0.2},
              initial={"position": 0.1, "velocity": 0.3}),
        joint("cylindrical", anchor=[2, 0, 0], axis=AXIS, limits=between(-1, 1),
              limits2=between(-2, 2), initial={"position": [0.2, 0.3], "velocity": [0.1, 1]}),
        joint("universal", anchor=[3, 0, 0], axis=[0, 1, 0], axis2=[1, 0, 0],
              limits=between(-1, 1), limits2=between(-1.5, 1.5),
              initial={"position": [0.4, -0.5], "velocity": [0.2, 0.3]}),
        joint("hinge2", anchor=[4, 0, 0], axis=[0, 0, 1], axis2=[1, 0.5, 0],
              limits=between(-1, 1), limits2=between(-1.5, 1.5),
              initial={"position": [-0.3, 0.6], "velocity": [0.2, 0.3]}),
        joint("screw", anchor=[5, 0, 0], axis=AXIS, pitch=0.1, limits=between(-4, 4),
              initial={"position": -0.7, "velocity": 0.5}),
        joint("planar", axis=AXIS, direction=SKEW, limits=between(-1, 1),
              limits2=between(-1, 1), limits3=between(-1, 1),
              initial={"position": [0.1, -0.2, 0.3], "velocity": [0.1, 0.2, 0.3]}),
        joint("ball", anchor=[7, 0, 0], axis=AXIS, limits={"swing": 1.0, "twist": 0.5}),
        joint("distance", anchor=[8, 0, 0], anchor2=[8, 0, 1], limits=between(0.5, 1.0)),
    ],
}  # fmt: skip


def test_what_is_drawn_of_limits_are_the_coordinates(page: Any, shown: Shown) -> None:
    """Of every kind of joint; from the poses in the view, also those of the history."""
    wanted = {"scene": SCENE, "paused": True}
    made = httpx.post(f"{shown.server}/v1/sessions", json=wanted, timeout=60)
    made.raise_for_status()
    page.set_viewport_size(SMALL)
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("sockets.at(-1)?.readyState === 1 && cardan.pose('ball')")
    shown.post("apply_impulse", body="ball", impulse=[0.0, 0.0, 0.2])
    shown.post("step", n=100)
    shown.wait("cardan.shown().step === 100 && cardan.limits().length === 0")
    calls = page.evaluate("cardan.stats().calls")
    page.keyboard.press("j")
    shown.wait(f"cardan.limits().length === 15 && cardan.stats().calls > {calls} + 4")
    drawn = page.evaluate("cardan.limits()")
    state = shown.rest("/state")
    told: dict[str, list[float]] = {}
    for row in state["joints"]:
        told.setdefault(SCENE["joints"][row["joint"]]["name"], []).append(row["q"])
    found: dict[str, list[float]] = {}
    for one in drawn:
        if one["joint"] != "ball":
            found.setdefault(one["joint"], []).append(one["value"])
    assert set(found) == {*KINDS, "distance"} - {"ball"}
    for name, values in found.items():
        assert values == pytest.approx(told[name], abs=2e-6), name
    swing, twist = (one["value"] for one in drawn if one["joint"] == "ball")
    # the rotation vector has a part along the axis and one across it
    size = math.hypot(*told["ball"])
    assert 0.02 < swing <= size + 1e-6
    assert abs(twist) <= size + 1e-6
    # the rope is taut: only it rests on a stop
    assert [one["joint"] for one in drawn if one["stopped"]] == ["distance"]
    page.keyboard.press("Home")
    shown.wait("cardan.shown().step === 0 && cardan.limits().length === 15")
    shown.wait("Math.abs(cardan.limits()[0].value - 0.4) < 1e-5")
    # only of the joint that is selected
    page.keyboard.press("j")
    page.locator("#outline").get_by_role("button", name="slider").last.click()
    shown.wait("cardan.limits().length === 1 && cardan.limits()[0].joint === 'slider'")
