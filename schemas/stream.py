"""Text messages of `cardan.v1` beside the commands: what clients and the service say."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from cardan.schemas.base import Base
from cardan.schemas.error import Problem
from cardan.schemas.session import CommandResult

ChannelName = Literal[
    "poses",
    "contacts",
    "joints",
    "energy",
    "solver",
    "events",
    "friction",
    "momentum",
    "velocities",
    "reactions",
]


class ClientBase(Base):
    """What a client says; further members are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)


class LastFrame(ClientBase):
    """The last frame of an earlier connection."""

    epoch: int
    """Its epoch."""
    sequence: int
    """Its number."""


class Hello(ClientBase):
    """The first message of a client."""

    op: Literal["hello"]
    """Kind of message."""
    client_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Name of the client; none: one is given to it."""
    resume: LastFrame | None = None
    """Where to go on after a lost connection."""


class ChannelOptions(ClientBase):
    """How a channel is sent."""

    hz: Annotated[float, Field(ge=0.01, le=1000.0, strict=True)] = 60.0
    """Largest rate; above 60 is 60 [Hz]."""
    encoding: Literal["float32", "quantised"] = "float32"
    """Of poses: 28 bytes for each body, or 12, with positions wrong by 1/131070 of the box around
    all bodies and at most 0.5 mm along each axis, and rotations by at most 1.5e-4 rad; frames whose
    bodies are more than 65 m apart are float32 all the same."""


class Subscribe(ClientBase):
    """Chooses the channels of this client, instead of those before."""

    op: Literal["subscribe"]
    """Kind of message."""
    channels: dict[ChannelName, ChannelOptions | None]
    """Options by channel."""
    id: str | None = None
    """Comes back with the result."""


class Ack(ClientBase):
    """The client has shown a frame."""

    op: Literal["ack"]
    """Kind of message."""
    sequence: Annotated[int, Field(strict=True)]
    """Number of the frame."""


class KeptSteps(Base):
    """Steps whose frames are kept."""

    from_step: int
    """The first."""
    to_step: int
    """The last."""
    spacing: int | None = None
    """Steps between two kept frames, at most."""


class StreamLimits(Base):
    """Limits of a connection."""

    window: int
    """Frames that may be unacknowledged."""
    max_hz: float
    """Largest rate of a channel [Hz]."""
    queued_messages: int
    """Messages that may wait before the connection is closed."""


class Welcome(Base):
    """The answer to `hello`; newer services may say more."""

    model_config = ConfigDict(frozen=True, extra="allow", use_attribute_docstrings=True)

    op: Literal["welcome"]
    """Kind of message."""
    protocol: str
    """Name and version of the protocol."""
    session: str
    """Id of the session."""
    scene_url: str
    """Where the scene is."""
    epoch: int
    """Counts resets and restores."""
    step: int
    """Steps done."""
    time: float
    """Simulated time [s]."""
    time_step: float
    """Simulated time per step [s]."""
    total_steps: int
    """Steps until the scene's duration."""
    state: str
    """Phase of the session."""
    speed: float | None
    """Simulated time per wall time; null: as fast as possible [-]."""
    failure: dict[str, Any] | None
    """Why the session failed."""
    role: Literal["control", "view"]
    """What the client may do now: change the run, or look at it."""
    control: str | None
    """The client that steers; null: everybody may."""
    client_id: str
    """Name of the client."""
    history: KeptSteps | None
    """Steps that can be shown again."""
    channels: list[str]
    """Channels there are."""
    limits: StreamLimits
    """Limits of the connection."""
    body_names: list[str]
    """Names of the bodies, in the order of poses."""
    joint_names: list[str]
    """Names of the joints."""
    gap: bool | None = None
    """After `resume`: whether frames or events are missing."""


class StreamResult(CommandResult):
    """A command of this client took effect."""

    shown_step: int | None = None
    """Of `seek`: step of the frame that is shown."""
    shown_time: float | None = None
    """Of `seek`: its time [s]."""
    exact: bool | None = None
    """Of `seek`: whether it is the step that was asked for."""


class StreamError(Base):
    """A message of this client was refused."""

    op: Literal["error"]
    """Kind of message."""
    id: str | None = None
    """The id of the message, if it had one."""
    problem: Problem
    """Why."""


class StreamEvent(Base):
    """Something happened to the session; what, is in further members."""

    model_config = ConfigDict(frozen=True, extra="allow", use_attribute_docstrings=True)

    op: Literal["event"]
    """Kind of message."""
    sequence_event: int
    """Counts the events."""
    type: str
    """What happened: command, state, reset, finished, failed, control, worker_lost, worker_resumed.

    Of `control`, `client_id` is who steers now; null: everybody may.
    """
    epoch: int
    """Epoch of the event."""
    sequence: int
    """Number of the newest frame then."""
    step: int
    """Step then."""
    time: float
    """Simulated time then [s]."""
