"""Which viewer has hold of a body: a simulation has one hold, and the last grab has it.

What a viewer has in its hand is let go when it leaves, or may no longer steer.
"""

from typing import TYPE_CHECKING

from cardan.service import clock
from cardan.service.sessions.log import HANDS
from cardan.service.streams.viewer import Viewer

if TYPE_CHECKING:
    from cardan.service.sessions.live_session import LiveSession

# these are for whoever has hold of a body
HOLDING = frozenset({"grab_move", "release"})


class Hand:
    """Which viewer of a session holds a body by a grab.

    Requests over HTTP are of no viewer: what they hold belongs to the state.
    """

    def __init__(self, session: "LiveSession") -> None:
        """Begin empty."""
        self._session = session
        self._viewer: Viewer | None = None

    def is_of_one_who_left(self, client_id: str) -> None:
        """Note that a viewer who left holds a body, from before the service was restarted."""
        self._viewer = Viewer(client_id, clock.monotonic)

    def is_empty_for(self, viewer: Viewer | None, op: str) -> bool:
        """Whether a command of a viewer would move or let go what another one has taken since."""
        if viewer is None or op not in HOLDING:
            return False
        holder = next(reversed(self._session.grabs_under_way), self._viewer)
        return holder not in (None, viewer)

    def note(self, op: str, viewer: Viewer | None) -> None:
        """A command of a viewer took effect."""
        if op in HANDS:
            self._viewer = viewer if op == "grab" else None

    def let_go(self) -> None:
        """Release what is in the hand of a viewer that has left, or that may no longer do it."""
        session, viewer = self._session, self._viewer
        if viewer is None:
            return
        if viewer in session.fanout and session.control.holder in (None, viewer.client_id):
            return
        # a grab that is on its way takes its place
        if session.has_worker and not session.grabs_under_way:
            self._viewer = None
            session.submit("release", {})
