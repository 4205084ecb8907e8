"""Live sessions: one engine each, in a worker of its own, controlled over the network."""

from cardan.service.sessions.live_session import LiveSession
from cardan.service.sessions.plan import Plan
from cardan.service.sessions.registry import SessionOptions, Sessions

__all__ = ["LiveSession", "Plan", "SessionOptions", "Sessions"]
