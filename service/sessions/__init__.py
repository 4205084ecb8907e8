"""Live sessions: one engine each, in a worker of its own, steered and watched over the network."""

from cardan.service.sessions.live_session import LiveSession, Plan
from cardan.service.sessions.registry import Sessions

__all__ = ["LiveSession", "Plan", "Sessions"]
