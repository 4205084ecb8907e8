"""A State as bytes and back, bit for bit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from engine.build.capacity import contact_cache
from engine.world.state import State

MAGIC = b"cardan-snapshot-1\n"


def named_arrays(state: State) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Every array that is saved, with its name; of the contact cache only what is in use."""
    for name in state._fields:
        if name != "contacts":
            yield name, getattr(state, name)
    cache = state.contacts
    used = int(cache.count[0])
    yield "contacts.count", cache.count
    for name in cache._fields[1:]:
        yield f"contacts.{name}", getattr(cache, name)[:used]


def to_bytes(state: State, identity: str) -> bytes:
    """The state with the identity of what it belongs to (scene and engine)."""
    parts = [(name, np.ascontiguousarray(array)) for name, array in named_arrays(state)]
    header = {
        "identity": identity,
        "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in parts],
    }
    text = json.dumps(header).encode()
    return b"".join(
        [MAGIC, len(text).to_bytes(8, "little"), text, *(array.tobytes() for _, array in parts)]
    )


def from_bytes(data: bytes, identity: str, state: State) -> State:
    """Write saved arrays into a state of the same scene; returns it, its cache grown if needed.

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
    used = int(saved["contacts.count"][0])
    if used > len(state.contacts.key):
        state = state._replace(contacts=contact_cache(used))
    for name, array in named_arrays(state):
        if not name.startswith("contacts."):
            array[...] = saved[name]
    state.contacts.count[0] = used
    for name in state.contacts._fields[1:]:
        getattr(state.contacts, name)[:used] = saved[f"contacts.{name}"]
    return state


def state_hash(state: State) -> str:
    """SHA-256 (hex) of all that is saved."""
    digest = hashlib.sha256()
    for name, array in named_arrays(state):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
