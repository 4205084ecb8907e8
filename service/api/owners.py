"""Owners: what a key made is seen and changed by that key, and by keys with the scope `admin`."""

from fastapi import Request

from cardan.service.keys import Key


def owner_of(request: Request) -> str | None:
    """Return the name of the key that a request was made with; None: the service has no keys."""
    key: Key | None = getattr(request.state, "api_key", None)
    return None if key is None else key.name


def seen_by(request: Request) -> str | None:
    """Return the owner whose resources a list shows; None: those of all owners."""
    return restricted(getattr(request.state, "api_key", None))


def restricted(key: Key | None) -> str | None:
    """Return the name of a key that sees only what it made; None: it sees everything."""
    return None if key is None or "admin" in key.scopes else key.name
