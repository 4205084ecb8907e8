"""Results that are kept for equal arguments: variants of a scene repeat most of their build."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import numpy as np
from pydantic import BaseModel

P = ParamSpec("P")
T = TypeVar("T")

# results that a function keeps: neighbours in lanes, and both ends of a run
MOST_RESULTS = 4
# larger arrays and longer lists are not compared: steps of a large scene cost more than its build
MOST_BYTES, MOST_PARTS = 262_144, 100
# asked for first: whether something is a model is asked of classes that answer slowly
PLAIN = frozenset({int, str, bool, type(None)})
SEQUENCES = (tuple, list)


class TooLargeError(Exception):
    """The arguments are larger than what is compared."""


def memoised(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function of arrays, structs, models and plain values that has no other effect.

    Arguments are equal to the bit, so results are. Arrays of results are read-only.
    """
    return memoised_for(MOST_RESULTS)(function)


def memoised_for(
    most: int, most_bytes: int = MOST_BYTES
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function as `memoised` does: how many results are kept, of which arrays."""
    return lambda function: _memoised(function, most, most_bytes)


def _memoised(function: Callable[P, T], most: int, most_bytes: int) -> Callable[P, T]:
    """The function that asks first what it has kept."""
    results: dict[tuple[Any, ...], T] = {}
    lock = Lock()

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> T:
        try:
            key = key_of((args, tuple(named.items())), most_bytes)
        except TooLargeError:
            return function(*args, **named)
        if key not in results:
            found = function(*args, **named)
            freeze(found)
            with lock:
                results[key] = found
                while len(results) > most:
                    del results[next(iter(results))]
            return found
        return results[key]

    return call


def key_of(value: Any, most_bytes: int) -> tuple[Any, ...]:
    """A key that is equal for arguments that are equal to the bit. Raises TooLargeError."""
    parts: list[Any] = []
    _add(value, parts, most_bytes)
    return tuple(parts)


def _add(value: Any, parts: list[Any], most_bytes: int) -> None:
    """Append what identifies a value."""
    kind = type(value)
    if kind is np.ndarray:
        if value.nbytes > most_bytes:
            raise TooLargeError
        parts += (value.dtype.char, value.shape, value.tobytes())
    elif kind in PLAIN:
        parts.append(value)
    elif issubclass(kind, SEQUENCES):
        if len(value) > MOST_PARTS:
            raise TooLargeError
        parts.append(len(value))
        for part in value:
            _add(part, parts, most_bytes)
    elif issubclass(kind, BaseModel):
        parts.append(value.model_dump_json())
    elif kind is dict:
        _add(tuple(value), parts, most_bytes)
        _add(tuple(value.values()), parts, most_bytes)
    else:
        # -0.0 and 0.0 are equal, but not to the bit
        parts.append(value.hex() if kind is float else value)


def freeze(found: Any) -> None:
    """Make the arrays of a result read-only: every caller gets the same."""
    if isinstance(found, np.ndarray):
        found.flags.writeable = False
    elif isinstance(found, tuple):
        for part in found:
            freeze(part)
