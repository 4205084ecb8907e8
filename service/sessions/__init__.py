"""Live sessions: one engine each, in a worker of its own, steered and watched over the network."""

from service.sessions.registry import Sessions
from service.sessions.session import LiveSession, Plan

__all__ = ["LiveSession", "Plan", "Sessions"]
