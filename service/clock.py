"""Time and ids, in one place so that tests can own them."""

import secrets
import time


def now() -> float:
    """Seconds since 1970-01-01 UTC."""
    return time.time()


def monotonic() -> float:
    """Seconds on a clock that never goes back; for durations."""
    return time.monotonic()


def new_id(prefix: str) -> str:
    """A fresh id such as `sim_5f0c...`: 80 random bits, safe in URLs and file names."""
    return f"{prefix}_{secrets.token_hex(10)}"
