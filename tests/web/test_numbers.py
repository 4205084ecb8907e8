"""Momentum, reactions and power as curves, boxes of inertia, failures, and the base of a robot."""

import io
import json
import re
from typing import Any

import httpx
import numpy as np
import pytest

from tests.web.shown import FLOATING, SMALL, Shown
from tests.web.test_work import BROKEN

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

AXES = ("x", "y", "z")
# a body that tumbles, its centre of mass off its origin, beside a wheel whose motor has a load
TUMBLE: dict[str, Any] = {
    "version": 1,
    "name": "tumble",
    "gravity": [0, 0, -9.81],
    "simulation": {"dt": 0.002, "duration": 0.4},
    "record": {"every": 5},
    "bodies": [
        {"name": "plank", "mass": 2, "position": [0, 3, 1], "linear_velocity": [1, 0, 4],
         "angular_velocity": [3, 1, -2],
         "shapes": [{"type": "box", "size": [0.2, 0.4, 0.8], "position": [0.3, 0, 0]}]},
        {"name": "arm", "mass": 1, "position": [0.5, 0, 0],
         "shapes": [{"type": "box", "size": [1, 0.1, 0.1]}]},
    ],
    "joints": [{"name": "axle", "type": "hinge", "parent": "world", "child": "arm",
                "anchor": [0, 0, 0], "axis": [0, 1, 0],
                "motor": {"type": "velocity", "target": -2, "max_force": 50}}],
}  # fmt: skip
# two links on a base that nothing holds
ROBOT: dict[str, Any] = {
    "version": 1,
    "name": "arm on a base",
    "simulation": {"dt": 0.002, "duration": 600},
    "bodies": [
        {"name": name, "mass": 1, "position": [0, 0, z],
         "shapes": [{"type": "box", "size": [0.1, 0.1, 0.2]}]}
        for name, z in (("base", 0.5), ("link 1", 0.25), ("link 2", 0))
    ],
    "joints": [
        {"name": f"joint {k}", "type": "hinge", "parent": parent, "child": f"link {k}",
         "anchor": [0, 0, 0.625 - 0.25 * k], "axis": [0, 1, 0]}
        for k, parent in ((1, "base"), (2, "link 1"))
    ],
}  # fmt: skip

# how far a body is from the middle of the view, along the page or down [px]
OFF_THE_MIDDLE = """(name) => {
  const at = cardan.screen(name), box = document.querySelector("#stage").getBoundingClientRect();
  return at ? Math.max(Math.abs(at.x - box.x - box.width / 2),
    Math.abs(at.y - box.y - box.height / 2)) : Infinity;
}"""


@pytest.fixture
def page(page: Any) -> Any:
    page.set_viewport_size({**SMALL, "height": 900})
    return page


def create(server: str, scene: Any) -> str:
    made = httpx.post(f"{server}/v1/sessions", json={"scene": scene, "paused": True}, timeout=60)
    made.raise_for_status()
    return str(made.json()["id"])


def run(server: str, scene: Any) -> str:
    wait = {"Prefer": "wait=30"}
    made = httpx.post(f"{server}/v1/simulations", json={"scene": scene}, headers=wait, timeout=120)
    made.raise_for_status()
    return str(made.json()["id"])


def pin(page: Any, chosen: str | None, *channels: str) -> None:
    """Click channels of a thing of the outline, or of the scene."""
    if chosen is None:
        page.locator("#stage canvas").focus()
        page.keyboard.press("Escape")
    else:
        page.locator("#outline").get_by_role("button", name=chosen).first.click()
    for channel in channels:
        page.locator(f"#inspector [data-channel='{channel}']").click()


def curves(page: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Times and values (curves, times) of each pinned plot, by its title."""
    return {
        one["title"]: (np.array(one["times"]), np.array(one["values"], float))
        for one in page.evaluate("cardan.pinned()")
    }


def spin_of_plank(poses: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """R I R^T w, of the plank (n, 4 qx qy qz qw), (n, 3)."""
    x, y, z, w = poses.T
    R = np.moveaxis(
        np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        ),
        2,
        0,
    )
    inertia = 2 / 12 * np.array([0.4**2 + 0.8**2, 0.2**2 + 0.8**2, 0.2**2 + 0.4**2])
    return np.einsum("nij,j,nkj,nk->ni", R, inertia, R, rates)


def test_momentum_reactions_and_power_of_a_stored_run(page: Any, server: str) -> None:
    stored = run(server, TUMBLE)
    page.goto(f"{server}/#run={stored}")
    Shown(page, server).wait(f"cardan.sessionId() === '{stored}' && cardan.pose('plank')")
    pin(page, None, "momentum", "angular")
    pin(page, "plank", "momentum:plank", "spin:plank")
    pin(page, "axle", "force:axle", "torque:axle", "power0:axle")
    Shown(page, server).wait("cardan.pinned().every(({ times }) => times.length > 10)")
    found = curves(page)
    url = f"{server}/v1/simulations/{stored}/trajectory?format=npz"
    with np.load(io.BytesIO(httpx.get(url, timeout=60).content)) as file:
        kept = {name: file[name] for name in file}

    def same(title: str, expected: list[np.ndarray], within: float) -> None:
        times, values = found[title]
        assert len(times) == len(kept["momentum/time"])
        np.testing.assert_allclose(values[: len(expected)], np.array(expected), atol=within)
        if len(values) > len(expected):
            np.testing.assert_allclose(values[-1], np.linalg.norm(values[:-1], axis=0), atol=1e-9)

    same("Momentum [N·s]", [kept[f"momentum/l{k}"] for k in AXES], 0)
    same("Angular momentum [N·m·s]", [kept[f"momentum/h{k}"] for k in AXES], 0)
    plank = kept["bodies/body"] == "plank"
    v, w = (np.stack([kept[f"bodies/{n}{k}"][plank] for k in AXES], 1) for n in "vw")
    q = np.stack([kept[f"bodies/q{k}"][plank] for k in "xyzw"], 1)
    spin = spin_of_plank(q, w)
    same("Spin of plank [N·m·s]", list(spin.T), 1e-5)
    # nothing but its weight acts on it
    times, values = found["Momentum of plank [N·s]"]
    start = 2 * (v[0] + np.cross(w[0], [0.3, 0, 0]))
    np.testing.assert_allclose(values[0], start[0], atol=1e-4)
    np.testing.assert_allclose(values[2], start[2] - 2 * 9.81 * times, atol=1e-4)
    same("Reaction force of axle [N]", [kept[f"joints/f{k}"] for k in AXES], 1e-4)
    same("Reaction torque of axle [N·m]", [kept[f"joints/t{k}"] for k in AXES], 1e-4)
    power = kept["joints/motor_force"] * kept["joints/qd"]
    assert np.abs(power).max() > 5
    same("Power of axle [W]", [power], 1e-4)


def test_a_selected_body_shows_its_momentum(page: Any, server: str, shown: Shown) -> None:
    """Also while nothing is pinned, and in a run that has not begun."""
    made = httpx.post(f"{server}/v1/sessions", json={"scene": TUMBLE, "paused": True}, timeout=60)
    page.goto(f"{server}/#session={made.json()['id']}")
    shown.wait("cardan.pose('plank')")
    page.locator("#outline").get_by_role("button", name="plank").click()
    facts = page.locator("#inspector")
    # m (v + w x r) with the centre 0.3 m along x: 2 ((1, 0, 4) + (0, -0.6, -0.3))
    words = re.compile(r"Momentum.*2\.000  \u22121\.200  7\.400")
    playwright_api.expect(facts).to_contain_text(words)


def test_momentum_and_reactions_of_a_run_that_goes_on(page: Any, server: str, shown: Shown) -> None:
    scene = {**TUMBLE, "simulation": {"dt": 0.002, "duration": 600}}
    page.goto(f"{server}/#session={create(server, scene)}")
    shown.wait("cardan.pose('plank') && sockets.at(-1)?.readyState === 1")
    # what the whole scene has is known also of the time before anybody asked for it
    for step in (25, 50, 75, 100):  # each stop has a frame, however fast they are
        shown.post("step", n=25)
        shown.wait(f"cardan.shown().step === {step}")
    pin(page, None, "momentum")
    shown.wait("cardan.pinned()[0]?.times.length > 1 && cardan.pinned()[0].times[0] < 0.1")
    pin(page, "plank", "momentum:plank", "spin:plank")
    pin(page, "axle", "force:axle", "power0:axle")
    # and so is what nobody had asked for: it is computed again
    shown.wait("cardan.pinned().every(({ times }) => times.length > 1 && times[0] < 0.1)")
    past, values = curves(page)["Momentum of plank [N·s]"]
    assert len(past) > 2
    np.testing.assert_allclose(np.diff(values[2]), -2 * 9.81 * np.diff(past), atol=1e-4)
    shown.post("step", n=100)
    shown.wait("cardan.pinned().every(({ times }) => Math.abs(times.at(-1) - 0.4) < 1e-9)")
    found, state = curves(page), shown.rest("/state")
    assert found["Momentum [N·s]"][1][:3, -1] == pytest.approx(state["momentum"][:3], abs=1e-12)
    (joint,) = state["joints"]
    forces = found["Reaction force of axle [N]"][1]
    assert forces[:3, -1] == pytest.approx([joint[f"f{k}"] for k in AXES], rel=1e-5, abs=1e-5)
    power = joint["motor_force"] * joint["qd"]
    assert found["Power of axle [W]"][1][0, -1] == pytest.approx(power, rel=1e-5)
    body = state["body_names"].index("plank")
    w = np.array(state["velocities"][body][3:])
    qw, *q = state["poses"][body][3:]
    spin = found["Spin of plank [N·m·s]"][1]
    assert spin[:3, -1] == pytest.approx(spin_of_plank(np.array([[*q, qw]]), w[None])[0], abs=1e-5)
    moved = found["Momentum of plank [N·s]"]
    assert moved[1][2, -1] == pytest.approx(2 * (4 + 0.3 * -1) - 2 * 9.81 * 0.4, abs=1e-4)
    # what nothing shows any more is not sent
    for title in ("Reaction force of axle [N]", "Momentum [N·s]"):
        name = title.partition(" [")[0]
        page.get_by_role("button", name=f"Remove the plot of {name}").first.click()
    pin(page, "plank")
    channels = "JSON.parse(said.filter((text) => text.includes('\"subscribe\"')).at(-1)).channels"
    shown.wait(f"!('reactions' in {channels}) && !('momentum' in {channels})")


def test_masses_of_a_run_that_is_gone_are_asked_for_once(tab: Any, server: str) -> None:
    """Deleted while somebody looks at it: what is here is shown, and one message says so."""
    run = httpx.post(
        f"{server}/v1/simulations",
        json={"scene": "incline"},
        headers={"Prefer": "wait=30"},
        timeout=60,
    ).json()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(f"{server}/#run={run['id']}")
    shown = Shown(tab, server)
    shown.wait(f"cardan.sessionId() === '{run['id']}'")
    httpx.delete(f"{server}{run['links']['self']}", timeout=60).raise_for_status()
    tab.locator("#overlays").get_by_label("Inertia boxes").check()
    playwright_api.expect(tab.locator("#messages")).to_contain_text("There is no simulation")
    # frames are drawn beside, and each would ask
    for _ in range(20):
        tab.evaluate("() => new Promise(requestAnimationFrame)")
    assert sum(url.endswith("/masses") for url in asked) == 1
    shown.close()


def test_a_box_of_inertia_has_the_sides_of_its_body(page: Any, server: str, shown: Shown) -> None:
    """That of the plank is the plank; of the ball a cube of side sqrt(12/5) r."""
    bodies = [TUMBLE["bodies"][0], {**FLOATING["bodies"][1], "position": [0, -2, 0]}]
    scene = {**FLOATING, "bodies": bodies}
    page.goto(f"{server}/#session={create(server, scene)}")
    shown.wait("cardan.pose('plank') && sockets.at(-1)?.readyState === 1")
    shown.post("step", n=100)
    shown.wait("cardan.shown().step === 100")
    page.locator("#stage canvas").focus()
    page.keyboard.press("x")
    shown.wait("cardan.inertias().length === 2 * 12 * 6")
    lines = np.reshape(page.evaluate("cardan.inertias()"), (2, 12, 2, 3))
    edges = lines[:, :, 1] - lines[:, :, 0]
    lengths = np.sort(np.linalg.norm(edges, axis=-1))
    assert lengths[0] == pytest.approx([0.2] * 4 + [0.4] * 4 + [0.8] * 4, abs=1e-6)
    assert lengths[1] == pytest.approx([np.sqrt(2.4) * 0.2] * 12, abs=1e-6)
    # about the centre of mass, along the axes of the body
    px, py, pz, qx, qy, qz, qw = shown.pose("plank")
    turn = np.array([qx, qy, qz])
    arm = np.array([0.3, 0, 0])
    center = arm + 2 * np.cross(turn, qw * arm + np.cross(turn, arm)) + [px, py, pz]
    assert lines[0].reshape(-1, 3).mean(axis=0) == pytest.approx(center, abs=1e-6)
    along = 2 * np.cross(turn, [0, qz, -qy]) + 2 * qw * np.array([0, qz, -qy]) + [1, 0, 0]
    shortest = edges[0][np.argmin(np.linalg.norm(edges[0], axis=1))] / 0.2
    assert abs(shortest @ along) == pytest.approx(1, abs=1e-5)
    page.keyboard.press("x")
    shown.wait("cardan.inertias().length === 0")


def test_a_session_that_failed_opens_at_its_body(page: Any, server: str, shown: Shown) -> None:
    session = create(server, BROKEN)
    httpx.post(f"{server}/v1/sessions/{session}:step", json={"n": 200}, timeout=60)
    info = httpx.get(f"{server}/v1/sessions/{session}", timeout=60).json()
    assert info["state"] == "failed"
    page.goto(f"{server}/#session={session}")
    message = page.locator("#messages .message")
    playwright_api.expect(message).to_contain_text("The simulation failed at 0.2")
    playwright_api.expect(message).to_contain_text(info["failure"]["message"])
    playwright_api.expect(page.locator(".labels .failure")).to_have_text("failed here")
    playwright_api.expect(page.locator("[data-overlay=forces]")).to_be_checked()
    playwright_api.expect(page.locator(".inspector-name")).to_have_text("far")
    # its body is in the middle of the view, and fills more of it than the whole scene would leave
    shown.wait(f"({OFF_THE_MIDDLE})('far') < 3")
    # started again, nothing of it is left
    page.get_by_role("button", name="Reset to the start").click()
    shown.wait("cardan.shown().state === 'paused'")
    playwright_api.expect(page.locator("[data-overlay=forces]")).not_to_be_checked()
    playwright_api.expect(page.locator(".labels .failure")).to_have_count(0)


def test_the_base_of_a_robot_is_fixed_and_freed(page: Any, server: str, shown: Shown) -> None:
    page.goto(f"{server}/#session={create(server, ROBOT)}")
    shown.wait("cardan.pose('base')")
    page.get_by_role("button", name="Open scene").click()
    base = page.locator("#scene-base")
    base.click()  # of the scene in the view: nothing else is written
    playwright_api.expect(page.locator("#scene-faults")).to_contain_text("is fixed to the world")
    written = json.loads(page.evaluate("cardan.editor()")["text"])
    hold = written["joints"][-1]
    assert {"type": "fixed", "parent": "world", "child": "base"}.items() <= hold.items()
    # let go, undone: held again
    base.click()
    playwright_api.expect(page.locator("#scene-faults")).to_contain_text("is free")
    freed = json.loads(page.evaluate("cardan.editor()")["text"])
    assert freed["joints"] == written["joints"][:-1]
    page.get_by_role("button", name="Undo").click()
    assert json.loads(page.evaluate("cardan.editor()")["text"]) == written
    # a ground below its lowest shape
    page.get_by_label("Add to the scene").select_option("Ground")
    ground = json.loads(page.evaluate("cardan.editor()")["text"])["bodies"][-1]
    assert ground["shapes"][0]["offset"] == pytest.approx(-0.1)
    page.get_by_role("button", name="Check and run").click()
    shown.wait("cardan.pose('ground') && cardan.shown().time > 0.1")
    assert shown.pose("base")[:3] == pytest.approx([0, 0, 0.5], abs=1e-9)
