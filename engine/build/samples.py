"""Arrays for the frames of a run."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.world.report import N_PHASES
from cardan.engine.world.samples import N_CONTACT, N_SOLVED, Samples

Steps = NDArray[np.int64]


class Counts(NamedTuple):
    """How many joints a frame has, and how many coordinates and rates of trees."""

    joints: int = 0
    coordinates: int = 0
    rates: int = 0


def sample_arrays(
    channels: Collection[str], bodies: Steps, counts: Counts, due: Steps, frames: int
) -> Samples:
    """Room for `frames` frames of the named channels, and for one contact in each."""

    def room(channel: str, *shape: int, whole: bool = False) -> NDArray[np.generic]:
        n = frames if channel in channels else 0
        return np.zeros((n, *shape), np.int64 if whole else np.float64)

    # origins of bodies move with their orientation
    channels = {*channels, "pose"} if "velocity" in channels else channels
    b, contacts = len(bodies), frames if "contacts" in channels else 0
    return Samples(
        count=np.zeros(3, np.int64),
        due=due,
        bodies=bodies,
        time=np.zeros(frames),
        step=np.zeros(frames, np.int64),
        pose=room("pose", b, 7),
        velocity=room("velocity", b, 6),
        present=room("presence", b, whole=True),
        tree_q=room("coordinates", counts.coordinates),
        tree_qd=room("coordinates", counts.rates),
        joint_motion=room("joints", counts.joints, 3, 2),
        joint_drive=room("joints", counts.joints, 3, 2),
        joint_reaction=room("joints", counts.joints, 6),
        contacts=room("contacts", whole=True),
        contact_body=np.zeros((contacts, 2), np.int64),
        contact=np.zeros((contacts, N_CONTACT)),
        energy=room("energy", 8),
        momentum=room("momentum", 6),
        solved=room("solver", N_SOLVED, whole=True),
        residual=room("solver", 2),
        phase_ns=room("solver", N_PHASES + 1, whole=True),
        phases_before=np.zeros(N_PHASES + 1, np.int64),
    )


# arrays that do not grow with the frames, and those with a row per contact
FIXED = ("count", "due", "bodies", "phases_before")
BY_CONTACT = ("contact_body", "contact")


def grown_samples(samples: Samples, frames: int, contacts: int) -> Samples:
    """The same frames with more room; channels that are not recorded stay without."""

    def grown(name: str, array: NDArray[np.generic]) -> NDArray[np.generic]:
        room = contacts if name in BY_CONTACT else frames
        if name in FIXED or len(array) == 0 or room <= len(array):
            return array
        larger = np.zeros((room, *array.shape[1:]), array.dtype)
        larger[: len(array)] = array
        return larger

    return Samples(*map(grown, samples._fields, samples))
