"""API keys: kept as SHA-256 digests, each with a name and scopes.

A key is either the secret itself (at least 16 characters; it may do everything), or
`NAME:SCOPES:sha256:DIGEST`, where SCOPES are joined by `+`. Secrets are random, so a plain digest
is enough: there is no dictionary to try.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass

SCOPES = ("read", "compute", "write", "metrics", "admin")
"""What a key may do: read; compute what is not stored; create, control and delete; read /metrics;
and, as far as its other scopes go, with what other keys made as well."""
SECRETS = (
    "CARDAN_API_KEY",
    "CARDAN_API_KEY_FILE",
    "CARDAN_DATABASE_URL",
    "CARDAN_RAY_TOKEN",
    "RAY_AUTH_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
)
"""Variables of the environment that no other process is started with."""
LEAST_CHARACTERS = 16
HASHED = re.compile(r"([\w.-]{1,64}):([a-z+]+):sha256:([0-9a-f]{64})", re.ASCII)
COOKIE_SECONDS = 30 * 86_400


class KeyTextError(ValueError):
    """A text is no key; the message says why and does not repeat it."""


@dataclass(frozen=True)
class Key:
    """A key without its secret."""

    name: str
    digest: str
    scopes: frozenset[str] = frozenset(SCOPES)

    def fits(self, secret: str) -> bool:
        """Return whether this is the secret; takes the same time for every text."""
        return hmac.compare_digest(digest_of(secret), self.digest)

    def cookie(self, now: float) -> str:
        """Return what a browser keeps instead of the secret, until it expires."""
        expires = int(now) + COOKIE_SECONDS
        return f"{self.name}:{expires}:{self._mac(expires)}"

    def _mac(self, expires: int) -> str:
        text = f"cookie:{self.name}:{expires}".encode()
        return hmac.new(self.digest.encode(), text, "sha256").hexdigest()

    def made(self, cookie: str, now: float) -> bool:
        """Return whether a cookie is of this key and has not expired."""
        name, _, rest = cookie.partition(":")
        expires, _, mac = rest.partition(":")
        if not (expires.isascii() and expires.isdecimal()) or len(expires) > 12:
            return False
        fits = hmac.compare_digest(mac.encode(), self._mac(int(expires)).encode())
        return fits and name == self.name and int(expires) > now


def digest_of(secret: str) -> str:
    """Return the SHA-256 of a secret, hex."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def parse_key(text: str) -> Key:
    """Read one key. Raises KeyTextError."""
    if ":sha256:" not in text:
        if len(text) < LEAST_CHARACTERS:
            raise KeyTextError(f"An API key needs at least {LEAST_CHARACTERS} characters.")
        digest = digest_of(text)
        return Key(f"key-{digest[:8]}", digest)
    found = HASHED.fullmatch(text)
    if found is None:
        raise KeyTextError("A hashed API key is written NAME:SCOPES:sha256:DIGEST (64 hex digits).")
    name, scopes, digest = found.groups()
    chosen = frozenset(SCOPES) if scopes == "all" else frozenset(scopes.split("+"))
    unknown = sorted(chosen - set(SCOPES))
    if unknown:
        known = ", ".join(SCOPES)
        raise KeyTextError(
            f"Key {name}: there is no scope {unknown[0]!r}; there are: {known}, all."
        )
    return Key(name, digest, chosen)


def find_key(secret: str, keys: Iterable[Key]) -> Key | None:
    """Return the key of a secret; all are compared."""
    fitting = [key for key in keys if key.fits(secret)]
    return fitting[0] if fitting else None


def find_cookie(cookie: str, keys: Iterable[Key], now: float) -> Key | None:
    """Return the key that made a cookie; all are compared."""
    fitting = [key for key in keys if key.made(cookie, now)]
    return fitting[0] if fitting else None
