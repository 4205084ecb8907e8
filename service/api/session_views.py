"""Live sessions as the API shows them."""

from cardan.schemas.api import SceneVersion, SessionInfo
from cardan.schemas.base import Base
from cardan.service.api.views import moment
from cardan.service.sessions.live_session import LiveSession
from cardan.service.sessions.states import Phase


class Fork(Base):
    """The moment at which a session was forked from another."""

    session: str
    """The other session."""
    epoch: int
    """Its epoch."""
    step: int
    """Its step."""
    time: float
    """Simulated time [s]."""


class KeptHistory(Base):
    """The past of the present epoch."""

    from_step: int
    """First step that can be shown."""
    to_step: int
    """Last step that can be shown."""
    spacing: int
    """Steps between two frames that are kept for the timeline, at most."""


class SessionView(SessionInfo):
    """The current state of a session."""

    name: str
    """Title."""
    time_step: float
    """Simulated time per step [s]."""
    total_steps: int
    """Steps until the scene's duration is reached."""
    real_time_factor: float
    """Simulated time per wall time, measured lately [-]."""
    viewers: int
    """Connections of the socket."""
    control: str | None
    """The client that steers, as it named itself; null: everybody may."""
    restarts: int
    """Workers that were lost and replaced."""
    forked_from: Fork | None
    """The moment of another session at which this one began."""
    stored_scene: SceneVersion | None
    """The stored scene it was made from; null: another scene."""
    history: KeptHistory
    """Steps that can be shown and forked."""


class SessionPage(Base):
    """One page of sessions, oldest first."""

    items: list[SessionView]
    """Sessions."""
    next_page_token: str
    """Token of the next page; empty at the end."""


def describe(session: LiveSession) -> SessionView:
    """Return the session object of the API."""
    here = f"/v1/sessions/{session.id}"
    progress = session.progress
    phase = Phase.STARTING if session.phase is Phase.CREATED else session.phase
    return SessionView.model_validate(
        {
            "id": session.id,
            "name": session.name,
            "state": str(phase),
            "step": progress.step,
            "time": progress.time,
            "time_step": progress.time_step,
            "total_steps": progress.total_steps,
            "speed": progress.speed,
            "real_time_factor": progress.real_time_factor,
            "epoch": session.epoch,
            "viewers": len(session.fanout),
            "control": session.control.holder,
            "restarts": session.restarts,
            "forked_from": session.about.forked_from,
            "stored_scene": session.about.stored_scene,
            "history": session.kept_history,
            "created_at": moment(session.created_at),
            "failure": session.failure,
            "links": {
                "self": here,
                "scene": f"{here}/scene",
                "state": f"{here}/state",
                "frames": f"{here}/frames",
                "stream": f"{here}/stream",
            },
        }
    )
