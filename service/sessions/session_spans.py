"""Spans of a session: what its users wait for. Its worker tells the times and exports nothing."""

from cardan.service import clock, tracing
from cardan.service.sessions.messages import Frame, Message, Ready, Refused, Status

# up to 60 a second while a grab moves
UNTRACED = frozenset({"grab_move"})


class SessionSpans:
    """`session` or `recovery` until the run goes on, `worker` and `picture` below it, `command`s.

    While traces are off all are empty.
    """

    def __init__(self, session: str) -> None:
        """Begin without open spans."""
        self._session = session
        self._start = tracing.Span()
        self._picture = tracing.Span()

    def begin(self, resume: bool) -> None:
        """A worker is asked for: for a new session, or to go on with one that has run."""
        name = "recovery" if resume else "session"
        self._start = tracing.begin(name, tracing.present(), None, session=self._session)
        self._picture = self._start.child("picture", session=self._session)

    def hear(self, message: Message, worker: int | None) -> None:
        """The worker sent a message: what it did until then may be over."""
        match message:
            case Ready():
                since = clock.now() - message.seconds
                self._start.child("worker", since, session=self._session, worker=worker).end()
            case Status():
                self._end_start(None)
            case Frame():
                self._end_picture(None)
            case Refused(problem):
                self._end_start(str(problem["code"]))
                self._end_picture(str(problem["code"]))

    def lost(self) -> None:
        """The worker is gone; what had not come by then has failed."""
        self._end_start("worker_lost")
        self._end_picture("worker_lost")

    def command(self, op: str) -> tracing.Span:
        """A command is submitted by the present request or socket."""
        if op in UNTRACED:
            return tracing.Span()
        return tracing.begin("command", tracing.present(), None, session=self._session, command=op)

    def _end_start(self, fault: str | None) -> None:
        span, self._start = self._start, tracing.Span()
        span.end(fault)

    def _end_picture(self, fault: str | None) -> None:
        span, self._picture = self._picture, tracing.Span()
        span.end(fault)
