"""A scene whose truth is known, and how far a run of it is off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from cardan.engine import Simulation
from cardan.engine.verdict.springs import spring_ends, stretches

Document = dict[str, Any]
Array = NDArray[np.float64]
Look = Callable[[Simulation], Any]
Truth = Callable[[float], Any]
# one entry for each scene of a family
Parameters = Sequence[Any]

# moments of a run that are compared with the truth, evenly spread and with the last
LOOKS = 50
G = 9.81
# formulations that scenes of a family take in turn
BOTH = ("maximal", "reduced")


class Case(NamedTuple):
    """One scene of a family."""

    family: str
    name: str
    document: Document
    look: Look
    """The quantity that is judged, of a simulation as it is."""
    truth: Truth | None = None
    """Its true value at a time [s]; none: that of a run with a much finer step."""
    scale: float | None = None
    """What an error is a share of; none: the largest change of the true values."""
    from_time: float = 0.0
    """Moments before this are not judged [s]."""
    other: str | None = None
    """Formulation of the reference run; none: that of the scene."""
    changes: Mapping[str, Any] = {}
    """Further settings of the reference run, of `simulation`."""


Family = Callable[[Parameters], Iterator[Case]]


def scene(
    bodies: Sequence[Document],
    joints: Sequence[Document] = (),
    forces: Sequence[Document] = (),
    *,
    dt: float,
    duration: float,
    materials: Mapping[str, Any] | None = None,
    gravity: float = G,
    **simulation: Any,
) -> Document:
    """A scene document; gravity [m/s^2] points down."""
    document: Document = {
        "bodies": list(bodies),
        "joints": list(joints),
        "forces": list(forces),
        "gravity": [0.0, 0.0, -gravity],
        "simulation": {"dt": dt, "duration": duration, **simulation},
    }
    if materials:
        document["materials"] = dict(materials)
    return document


def floor(material: str | None = None) -> Document:
    """The plane z = 0."""
    plane: Document = {"type": "plane", "normal": [0, 0, 1]}
    if material:
        plane["material"] = material
    return {"name": "floor", "type": "static", "shapes": [plane]}


def mass(name: str, position: Sequence[float], m: float = 1.0, **more: Any) -> Document:
    """A body of 10 cm that touches nothing."""
    shape = {"type": "box", "size": [0.1, 0.1, 0.1], "collision_mask": 0}
    return {"name": name, "position": list(position), "mass": m, "shapes": [shape], **more}


def joint(kind: str, child: str, parent: str = "world", **more: Any) -> Document:
    """A joint, named after what it connects."""
    return {"name": f"{parent}-{child}", "type": kind, "parent": parent, "child": child, **more}


def height(body: str) -> Look:
    """Height of a body's origin [m]."""
    return lambda s: [s.poses()[s.body_names.index(body), 2]]


def place(*bodies: str) -> Look:
    """Origins of bodies [m]."""

    def look(s: Simulation) -> Array:
        rows = [s.body_names.index(body) for body in bodies]
        return np.asarray(s.poses()[rows, :3]).ravel()

    return look


def turned(s: Simulation, body: str) -> Array:
    """(3, 3): the orientation of a body; its columns are the axes of the body, in W."""
    w, x, y, z = s.poses()[s.body_names.index(body), 3:]
    return np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
    )


def axis(body: str, k: int = 2) -> Look:
    """Axis k of a body, in W [-]."""
    return lambda s: turned(s, body)[:, k]


def ends(body: str, length: float) -> Look:
    """Ends of the three axes of a body, each of this length [m], in W [m]."""

    def look(s: Simulation) -> Array:
        origin = s.poses()[s.body_names.index(body), :3]
        return (origin[:, None] + length * turned(s, body)).ravel()

    return look


def stretch(finding: Document) -> Look:
    """Stretch of the spring that a finding names [m or rad]."""

    def look(s: Simulation) -> Array:
        ends_of_all, child = spring_ends(s.model), s.body_names.index(finding["body"])
        joint = -1 if finding["joint"] is None else s.joint_names.index(finding["joint"])
        found = (ends_of_all[:, 1] == child) & (ends_of_all[:, 2] == joint)
        return stretches(s.model, s.state, s.placement.joint_motion(s.state))[found]

    return look


def turn(name: str) -> Look:
    """First coordinate of a joint [rad or m]."""

    def look(s: Simulation) -> list[float]:
        table = s.joint_table()
        return [float(table["q"][table["joint"] == s.joint_names.index(name)][0])]

    return look


def solved(rate: Callable[[float, Array], Any], start: Sequence[float], end: float) -> Any:
    """All coordinates of y' = rate(t, y) as a function of time, solved to 1e-10."""
    found = solve_ivp(
        rate, (0.0, end * 1.01), list(start), "DOP853", rtol=1e-10, atol=1e-12, dense_output=True
    )
    return found.sol


def by_equation(rate: Callable[[float, Array], Any], start: Sequence[float], end: float) -> Truth:
    """The first coordinate of y' = rate(t, y), solved to 1e-10."""
    sol = solved(rate, start, end)
    return lambda t: [sol(t)[0]]


def looked(
    document: Document, case: Case, at: Array | None = None
) -> tuple[Simulation, Array, Array]:
    """A run of a document: itself at the end, the moments (k,) [s] and the values (k, q).

    at (k,) [s]: the moments to look at, each the end of a step; none: evenly spread
    """
    from cardan.schemas import load_scene

    simulation = Simulation(load_scene(document))
    steps = np.linspace(0.0, simulation.total_steps, LOOKS + 1)
    times, values = [], []
    for due in np.round(steps if at is None else at / simulation.time_step).astype(int).tolist():
        simulation.advance(due - simulation.step_count)
        times.append(due * simulation.time_step)
        values.append(np.atleast_1d(np.asarray(case.look(simulation), float)))
    return simulation, np.array(times), np.array(values)


def reference(case: Case, refinement: int, at: Array) -> Array:
    """Values (k, q) of a run of the case with dt / refinement, at the moments (k,) of the run [s].

    They are those of the run itself: where its looks are not evenly spread, neither are these.
    """
    simulation = dict(case.document["simulation"])
    simulation["dt"] = simulation.get("dt", 0.001) / refinement
    if case.other is not None:
        simulation["formulation"] = case.other
    simulation |= case.changes
    _, times, values = looked({**case.document, "simulation": simulation}, case, at)
    assert np.allclose(times, at, rtol=1e-12, atol=0.0)
    return values


def scale_of(case: Case, true: Array) -> float:
    """What errors of a case are a share of, in the unit of what is judged."""
    if case.scale is not None:
        return case.scale
    return float(np.linalg.norm(np.ptp(true, axis=0)))


def off_by(case: Case, times: Array, values: Array, true: Array) -> float:
    """The largest error as a share of the scale; inf where there is no number."""
    judged = times >= case.from_time
    error = np.linalg.norm((values - true)[judged], axis=1)
    if not np.isfinite(error).all():
        return float("inf")
    return float(error.max() / scale_of(case, true))


def family(parameters: Parameters) -> Callable[[Callable[..., Case]], Family]:
    """The scenes of a family, from a function of a formulation, in turn, and one entry."""

    def of(one: Callable[..., Case]) -> Family:
        def scenes(parameters: Parameters = parameters) -> Iterator[Case]:
            for k, values in enumerate(parameters):
                yield one(BOTH[k % 2], *values)

        scenes.__name__ = one.__name__
        return scenes

    return of
