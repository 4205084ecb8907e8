"""The newest value per key; a slow reader loses old values, never memory."""

from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Mailbox(Generic[K, V]):
    """One slot per key. Putting replaces, taking empties."""

    def __init__(self) -> None:
        """Begin empty."""
        self._slots: dict[K, V] = {}

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self._slots)

    def put(self, values: Mapping[K, V]) -> int:
        """Fill the slots of the keys; the number of values nobody had taken yet."""
        replaced = sum(key in self._slots for key in values)
        self._slots.update(values)
        return replaced

    def peek(self, key: K) -> V | None:
        """The value that waits under the key, left in place."""
        return self._slots.get(key)

    def take(self, keys: set[K]) -> dict[K, V]:
        """Empty the slots of the keys and give what was in them."""
        return {key: self._slots.pop(key) for key in list(self._slots) if key in keys}

    def clear(self) -> None:
        """Empty every slot."""
        self._slots.clear()
