"""What a run keeps."""

from typing import Literal, get_args

from cardan.schemas.base import Base
from cardan.schemas.quantities import Count, Name, Positive

Channel = Literal[
    "pose",
    "velocity",
    "joints",
    "contacts",
    "energy",
    "momentum",
    "solver",
    "sensors",
    "constraints",
    "events",
]
# all but the events, whose number is not known in advance, and the rows of all constraints
CHANNELS: tuple[Channel, ...] = tuple(
    channel for channel in get_args(Channel) if channel not in ("constraints", "events")
)

# columns of the table `bodies`, by channel, and of the table `momentum`
POSE = ("px", "py", "pz", "qw", "qx", "qy", "qz")
VELOCITY = ("vx", "vy", "vz", "wx", "wy", "wz")
MOMENTUM = ("lx", "ly", "lz", "hx", "hy", "hz")


class Record(Base):
    """Which steps, channels and bodies are recorded; step 0 and the last step always are."""

    every: Count = 10
    """Record every so many steps, counted from step 0; not together with `rate`."""
    rate: Positive | None = None
    """Records per simulated second, instead of `every` [Hz]."""
    channels: tuple[Channel, ...] = CHANNELS
    """Channels to keep; `constraints`: all rows of each recorded step; `events`: all moments at
    which shapes begin or cease to touch, joints break, triggers fire and bodies come and go."""
    bodies: tuple[Name, ...] | None = None
    """Names of the bodies to keep; none: all."""

    def interval(self, dt: float) -> float:
        """Steps of dt [s] from one record to the next: at least 1, not always a whole number."""
        return float(self.every) if self.rate is None else max(1.0 / (self.rate * dt), 1.0)
