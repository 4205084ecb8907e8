"""Rewriting the arrays of a simulation with those of another build of the same structure.

Structure is every whole number of a model and its options, every shape of an array, and the room
that a step needs. Values are all other numbers: masses, lengths, friction, targets, the time step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.room import max_rows
from cardan.engine.build.scene import Built
from cardan.engine.world.collision import CollisionScratch
from cardan.engine.world.options import SleepOptions
from cardan.engine.world.report import Report
from cardan.engine.world.state import ContactCache, State
from cardan.engine.world.workspace import Workspace

Pair = tuple[NDArray[Any], NDArray[Any]]


class Arrays(NamedTuple):
    """All arrays of a build; contact caches are left out."""

    model: list[NDArray[Any]]
    state: list[NDArray[Any]]


def pairs_of(one: Any, other: Any) -> Iterator[Pair]:
    """Arrays at the same place of two nested structs; contact caches are left out."""
    return zip(arrays_of(one), arrays_of(other), strict=True)


def arrays_of(struct: Any) -> list[NDArray[Any]]:
    """All arrays of a nested struct; contact caches are left out."""
    found: list[NDArray[Any]] = []
    _collect(struct, found)
    return found


def _collect(struct: Any, found: list[NDArray[Any]]) -> None:
    for part in struct:
        if isinstance(part, np.ndarray):
            found.append(part)
        elif not isinstance(part, ContactCache):
            _collect(part, found)


def same_options(one: Any, other: Any) -> bool:
    """Whether nested options differ in nothing but floats, and in when bodies fall asleep."""
    for a, b in zip(one, other, strict=True):
        if isinstance(a, SleepOptions):
            continue
        if isinstance(a, tuple):
            if not same_options(a, b):
                return False
        elif not isinstance(a, float) and a != b:
            return False
    return True


def arrays(built: Built) -> Arrays:
    """The arrays of a build."""
    return Arrays(arrays_of(built.model), arrays_of(built.state))


def same_structure(one: Built, other: Built) -> bool:
    """Whether arrays made for one build serve the other."""
    return _same_room(one, other) and _same_arrays(arrays(one), arrays(other))


def _same_room(one: Built, other: Built) -> bool:
    """Whether two builds have the same names and options, and room for rows and for sleepers."""
    if one.body_names != other.body_names or one.joint_names != other.joint_names:
        return False
    if len(one.state.resting.key) == 0 and len(other.state.resting.key) > 0:
        return False
    if not same_options(one.options, other.options):
        return False
    if max_rows(one.model, 0) != max_rows(other.model, 0):
        return False
    return max_rows(one.model, 1) == max_rows(other.model, 1)


def _same_arrays(one: Arrays, other: Arrays) -> bool:
    """Whether arrays of two builds differ in values only."""
    for a, b in zip(one.state, other.state, strict=True):
        if a.shape != b.shape or a.dtype.char != b.dtype.char:
            return False
    # whole numbers of a state may change (they count), those of a model are its structure
    for a, b in zip(one.model, other.model, strict=True):
        if a.shape != b.shape or a.dtype.char != b.dtype.char:
            return False
        if a.dtype.kind != "f" and a.tobytes() != b.tobytes():
            return False
    return True


def rewrite(one: Built, other: Built) -> bool:
    """Write the values of `other` into the arrays of `one`; contact caches become empty.

    False: they have another structure, and nothing was written.
    """
    if not _same_room(one, other):
        return False
    own, new = arrays(one), arrays(other)
    if not _same_arrays(own, new):
        return False
    for olds, news in zip(own, new, strict=True):
        for a, b in zip(olds, news, strict=True):
            a[...] = b
    forget_contacts(one.state)
    return True


def forget_contacts(state: State) -> None:
    """Empty the contact caches."""
    state.contacts.count[0] = 0
    state.resting.count[0] = 0


def clear_run(report: Report, work: Workspace, collision: CollisionScratch) -> None:
    """Clear report, contacts, rows, reactions, pairs and boxes, as before the first step."""
    for array in (*report, *collision.tree, collision.sweep.pair_count, work.tree.reaction):
        array.fill(0)
    report.bad_body[0] = -1
    work.contacts.count[0] = 0
    work.rows.count[:] = 0
