"""Merge bodies of the model that move as one, and add up their mass.

MuJoCo welds a body without joints to its parent; a weld group moves as one and is one body here.
With the option `links: kept` members with mass stay bodies, on fixed joints.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cardan.schemas.imported import ImportOptions
from cardan.service.importing.compiled import Compiled
from cardan.service.importing.notes import Notes

Floats = npt.NDArray[np.float64]
WORLD = "world"
RELATIVE_ZERO = 1e-9
"""Smallest moment of inertia over the largest, below which a body is a rod or a point [-]."""


@dataclass
class Link:
    """A body of the scene: the bodies of the model in it, `root` first; poses are the root's."""

    name: str
    root: int
    kind: str
    bodies: list[int] = field(default_factory=list)
    carrier: int | None = None
    """With `links: kept`: the body of the model this one is fixed to."""


@dataclass(frozen=True)
class Mass:
    """Mass [kg], centre [m] and inertia about it [kg m^2] (3, 3), in W at the start."""

    mass: float
    center: Floats
    inertia: Floats


class Names:
    """Names that are unique; `world` is reserved."""

    def __init__(self, *reserved: str) -> None:
        """Reserve some names."""
        self._taken = set(reserved)

    def take(self, wanted: str) -> str:
        """Take a name; add a number if it is taken, replace control characters by blanks."""
        clean = "".join(c if c.isprintable() else " " for c in wanted)[:190] or "unnamed"
        name, number = clean, 1
        while name in self._taken:
            number += 1
            name = f"{clean} {number}"
        self._taken.add(name)
        return name


def find_links(
    compiled: Compiled, options: ImportOptions, names: Names, notes: Notes
) -> list[Link]:
    """The bodies of the scene, in the order of the model."""
    model = compiled.model
    links: dict[int, Link] = {}
    for body in range(model.nbody):
        home = _home(model, body, options)
        if home == body:
            name = "ground" if body == 0 else compiled.name("body", body)
            links[body] = Link(names.take(name), body, _kind(model, body), [body])
            if options.links == "kept" and _is_welded(model, body):
                links[body].carrier = _home(model, int(model.body_parentid[body]), options)
        else:
            links[home].bodies.append(body)
            if model.body_weldid[body] != 0:
                notes.approximated(
                    "merged",
                    "Links on fixed joints are part of the body that carries them; the motion is "
                    "the same, reactions between them are not told (`links: kept` keeps them).",
                    f"link '{compiled.name('body', body)}' in '{links[home].name}'",
                )
    return [
        link
        for link in links.values()
        if link.kind != "static" or any(model.body_geomnum[b] for b in link.bodies)
    ]


def _home(model: Any, body: int, options: ImportOptions) -> int:
    """The body of the model whose link this one belongs to."""
    weld = int(model.body_weldid[body])
    if weld == 0:
        # whatever cannot move: each a body of its own, for its name and its pose
        return body
    if options.links == "merged" or not _has_extent(model, weld):
        return weld
    while body != weld and not _has_extent(model, body):
        body = int(model.body_parentid[body])
    return body


def _has_extent(model: Any, body: int) -> bool:
    """Whether a body can move by itself: mass, and an inertia about every axis."""
    moments = model.body_inertia[body]
    return bool(model.body_mass[body] > 0.0 and moments.min() > RELATIVE_ZERO * moments.max())


def _is_welded(model: Any, body: int) -> bool:
    return bool(model.body_weldid[body] not in (0, body))


def _kind(model: Any, body: int) -> str:
    if model.body_mocapid[body] >= 0:
        return "kinematic"
    return "static" if model.body_weldid[body] == 0 else "dynamic"


def mass_of(compiled: Compiled, bodies: list[int]) -> Mass:
    """Mass, centre and inertia of bodies that move as one.

    m = sum m_i, c = sum m_i c_i / m, I = sum I_i + m_i (|d|^2 1 - d d^T), d = c_i - c

    Check   tests/service/importing/test_robots.py
    """
    model, data = compiled.model, compiled.data
    masses = model.body_mass[bodies]
    mass = float(masses.sum())
    center = np.zeros(3) if mass == 0.0 else masses @ data.xipos[bodies] / mass
    inertia = np.zeros((3, 3))
    for body in bodies:
        axes = data.ximat[body].reshape(3, 3)
        apart = data.xipos[body] - center
        inertia += axes @ np.diag(model.body_inertia[body]) @ axes.T
        inertia += model.body_mass[body] * (
            np.dot(apart, apart) * np.eye(3) - np.outer(apart, apart)
        )
    return Mass(mass, center, inertia)


def in_body(compiled: Compiled, body: int, mass: Mass, share: float = 1.0) -> dict[str, Any]:
    """Fields of a body of the scene: a share of a mass, in the frame of a body of the model."""
    axes = compiled.data.xmat[body].reshape(3, 3)
    center = axes.T @ (mass.center - compiled.data.xpos[body])
    inertia = share * (axes.T @ mass.inertia @ axes)
    xx, yy, zz = np.diag(inertia)
    values = [xx, yy, zz, inertia[0, 1], inertia[0, 2], inertia[1, 2]]
    return {
        "mass": share * mass.mass,
        "center_of_mass": compiled.vector(center),
        "inertia": compiled.vector(values),
    }
