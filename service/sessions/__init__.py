"""Live sessions: one engine each, in a worker of its own, controlled over the network."""

from cardan.service.sessions.live_session import LiveSession, Plan
from cardan.service.sessions.registry import Sessions

__all__ = ["LiveSession", "Plan", "Sessions"]
