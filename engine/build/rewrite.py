"""Rewriting the arrays of a simulation with those of another build of the same structure.

Structure is every whole number of a model and its options, every shape of an array, and the room
that a step needs. Values are all other numbers: masses, lengths, friction, targets, the time step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.allocate import max_rows
from cardan.engine.build.scene import Built
from cardan.engine.world.collision import CollisionScratch
from cardan.engine.world.options import SleepOptions
from cardan.engine.world.report import Report
from cardan.engine.world.state import ContactCache, State
from cardan.engine.world.workspace import Workspace

Pair = tuple[NDArray[Any], NDArray[Any]]


def pairs_of(one: Any, other: Any) -> Iterator[Pair]:
    """Arrays at the same place of two nested structs; contact caches are left out."""
    return zip(arrays_of(one), arrays_of(other), strict=True)


def arrays_of(struct: Any) -> list[NDArray[Any]]:
    """All arrays of a nested struct; contact caches are left out."""
    found: list[NDArray[Any]] = []
    for part in struct:
        if isinstance(part, np.ndarray):
            found.append(part)
        elif not isinstance(part, ContactCache):
            found += arrays_of(part)
    return found


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


def same_structure(one: Built, other: Built) -> bool:
    """Whether arrays made for one build serve the other."""
    if one.body_names != other.body_names or one.joint_names != other.joint_names:
        return False
    if not same_options(one.options, other.options):
        return False
    if max_rows(one.model, 0) != max_rows(other.model, 0):
        return False
    if max_rows(one.model, 1) != max_rows(other.model, 1):
        return False
    for a, b in pairs_of(one.state, other.state):
        if a.shape != b.shape or a.dtype.char != b.dtype.char:
            return False
    # whole numbers of a state may change (they count), those of a model are its structure
    for a, b in pairs_of(one.model, other.model):
        if a.shape != b.shape or a.dtype.char != b.dtype.char:
            return False
        if a.dtype.kind != "f" and a.tobytes() != b.tobytes():
            return False
    return True


def rewrite(one: Built, other: Built) -> None:
    """Write the values of `other` into the arrays of `one`; contact caches become empty."""
    for a, b in pairs_of((one.model, one.state), (other.model, other.state)):
        a[...] = b
    forget_contacts(one.state)


def forget_contacts(state: State) -> None:
    """Empty the contact caches."""
    state.contacts.count[0] = 0
    state.resting.count[0] = 0


def clear_run(report: Report, work: Workspace, collision: CollisionScratch) -> None:
    """What is before the first step: no report, contacts, rows, reactions, pairs nor boxes."""
    for array in (*report, *collision.tree, collision.sweep.pair_count, work.tree.reaction):
        array.fill(0)
    report.bad_body[0] = -1
    work.contacts.count[0] = 0
    work.rows.count[:] = 0
