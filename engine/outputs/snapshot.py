"""Serialisation of a State to bytes and back, bit for bit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.allocate import with_caches
from cardan.engine.world.state import ContactCache, State

MAGIC = b"cardan-snapshot-1\n"

CACHES = ("contacts", "resting")


def named_arrays(state: State) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Every saved array with its name; of contact caches only the used entries."""
    for name, value in zip(state._fields, state, strict=True):
        if isinstance(value, ContactCache):
            yield f"{name}.count", value.count
            used = int(value.count[0])
            for part, array in zip(value._fields, value, strict=True):
                if part != "count":
                    yield f"{name}.{part}", array[:used]
        else:
            yield name, value


def to_bytes(state: State, identity: str, *, can_be_repeated: bool) -> bytes:
    """Serialise a state with the identity of its scene and engine, and whether nothing moved it but
    what its scene says."""
    parts = [(name, np.ascontiguousarray(array)) for name, array in named_arrays(state)]
    header = {
        "identity": identity,
        "can_be_repeated": can_be_repeated,
        "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in parts],
    }
    text = json.dumps(header).encode()
    return b"".join(
        [MAGIC, len(text).to_bytes(8, "little"), text, *(array.tobytes() for _, array in parts)]
    )


def from_bytes(data: bytes, identity: str, state: State) -> tuple[State, bool]:
    """Write saved arrays into a state of the same scene; returns it, its cache grown if needed, and
    whether its run can be repeated.

    Raises ValueError when the bytes are no snapshot, or of another scene or engine.
    """
    if not data.startswith(MAGIC):
        raise ValueError("these bytes are not a snapshot of a simulation")
    start = len(MAGIC) + 8
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    try:
        header = json.loads(data[start : start + length])
    except ValueError:
        raise ValueError("the snapshot's header cannot be read") from None
    if header["identity"] != identity:
        raise ValueError(
            f"the snapshot belongs to {header['identity']}, this simulation is {identity}"
        )
    offset = start + length
    saved: dict[str, NDArray[np.generic]] = {}
    for name, dtype, shape in header["arrays"]:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if offset + size > len(data):
            raise ValueError("the snapshot is shorter than its header says")
        saved[name] = np.frombuffer(data, dtype, int(np.prod(shape)), offset).reshape(shape)
        offset += size
    # entries move between the caches: each must hold all of them
    used = sum(int(saved[f"{name}.count"][0]) for name in CACHES)
    if used > len(state.contacts.key):
        state = with_caches(state, used)
    for name in CACHES:
        getattr(state, name).count[:] = saved[f"{name}.count"]
    for name, array in named_arrays(state):
        array[...] = saved[name]
    return state, header["can_be_repeated"]


def state_hash(state: State) -> str:
    """SHA-256 (hex) of all that is saved."""
    digest = hashlib.sha256()
    for name, array in named_arrays(state):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
