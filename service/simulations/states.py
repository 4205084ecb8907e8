"""State machine of a run: pure decisions, no clock, no database, no process.

    queued --claimed--> starting --started--> running --succeeded--> succeeded
                                                      --failed-----> failed
                                                      --timed_out--> timed_out
    cancel_requested:  queued -> cancelled at once;  starting, running -> cancelling,
                       and `cancelled` only when the worker has really stopped
    worker_lost:       starting, running -> queued again while losses are left, else failed;
                       cancelling -> cancelled (nothing computes any more)
    released:          the service shuts down in good order: back to the queue, no loss counted

Physics is never tried again: the same scene gives the same bits. Only lost workers are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class RunState(StrEnum):
    """The state of one run."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"


class RunEvent(StrEnum):
    """What can happen to a run."""

    CLAIMED = "claimed"
    STARTED = "started"
    CANCEL_REQUESTED = "cancel_requested"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    WORKER_LOST = "worker_lost"
    RELEASED = "released"


TERMINAL = frozenset({RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED, RunState.TIMED_OUT})
# ends after which a run of a batch may be done again
RETRIED = TERMINAL - {RunState.SUCCEEDED}
# a worker holds the run
ACTIVE = frozenset({RunState.STARTING, RunState.RUNNING, RunState.CANCELLING})

_S, _E = RunState, RunEvent
_TABLE: Mapping[tuple[RunState, RunEvent], RunState] = {
    (_S.QUEUED, _E.CLAIMED): _S.STARTING,
    (_S.QUEUED, _E.CANCEL_REQUESTED): _S.CANCELLED,
    (_S.STARTING, _E.STARTED): _S.RUNNING,
    (_S.STARTING, _E.CANCEL_REQUESTED): _S.CANCELLING,
    (_S.RUNNING, _E.CANCEL_REQUESTED): _S.CANCELLING,
    (_S.CANCELLING, _E.CANCEL_REQUESTED): _S.CANCELLING,
    (_S.STARTING, _E.SUCCEEDED): _S.SUCCEEDED,
    (_S.STARTING, _E.FAILED): _S.FAILED,
    (_S.STARTING, _E.TIMED_OUT): _S.TIMED_OUT,
    (_S.RUNNING, _E.SUCCEEDED): _S.SUCCEEDED,
    (_S.RUNNING, _E.FAILED): _S.FAILED,
    (_S.RUNNING, _E.TIMED_OUT): _S.TIMED_OUT,
    # the worker finished before it received the cancellation: its outcome counts
    (_S.CANCELLING, _E.SUCCEEDED): _S.SUCCEEDED,
    (_S.CANCELLING, _E.FAILED): _S.FAILED,
    (_S.CANCELLING, _E.CANCELLED): _S.CANCELLED,
    (_S.CANCELLING, _E.TIMED_OUT): _S.CANCELLED,
    (_S.CANCELLING, _E.WORKER_LOST): _S.CANCELLED,
    (_S.STARTING, _E.RELEASED): _S.QUEUED,
    (_S.RUNNING, _E.RELEASED): _S.QUEUED,
    (_S.CANCELLING, _E.RELEASED): _S.CANCELLED,
}


def next_state(state: RunState, event: RunEvent, losses_left: int = 0) -> RunState | None:
    """The state after the event, or `None` when the event has no meaning in this state.

    `losses_left` says how many workers this run may still lose before it fails.
    """
    if event is RunEvent.WORKER_LOST and state in (RunState.STARTING, RunState.RUNNING):
        return RunState.QUEUED if losses_left > 0 else RunState.FAILED
    return _TABLE.get((state, event))


def batch_state(counts: Mapping[RunState, int], *, stopping: bool) -> str:
    """The state of a batch from the number of its runs per state.

    `stopping` says that a cancel or the failure rule keeps queued runs from starting.
    """
    total = sum(counts.values())
    active = sum(counts.get(state, 0) for state in ACTIVE)
    queued = counts.get(RunState.QUEUED, 0)
    succeeded = counts.get(RunState.SUCCEEDED, 0)
    if active or queued:
        if stopping:
            return "cancelling"
        return "queued" if queued == total else "running"
    if succeeded == total:
        return "succeeded"
    if succeeded:
        return "partially_succeeded"
    return "cancelled" if counts.get(RunState.CANCELLED, 0) == total else "failed"


@dataclass(frozen=True)
class FailureRule:
    """When failing runs stop their batch: after `stop_after` failures (0: never)."""

    stop_after: int

    # the first runs to finish all failing alike means that the batch itself is wrong
    ALIKE = 5

    @staticmethod
    def parse(text: str) -> "FailureRule":
        """Read `continue`, `stop` or `stop_after:n`; raises ValueError on anything else."""
        if text == "continue":
            return FailureRule(0)
        if text == "stop":
            return FailureRule(1)
        word, _, number = text.partition(":")
        if word == "stop_after" and number.isdecimal() and int(number) > 0:
            return FailureRule(int(number))
        raise ValueError("use continue, stop or stop_after:n with n >= 1")

    def stops(self, failed: int, succeeded: int, codes: frozenset[str]) -> str | None:
        """Why the batch must stop now, or `None`.

        `failed` and `succeeded` count the finished runs, `codes` are the codes of the failures.
        """
        if self.stop_after and failed >= self.stop_after:
            return f"{failed} of its runs failed and on_failure allows {self.stop_after - 1}"
        if succeeded == 0 and failed >= self.ALIKE and len(codes) == 1:
            return f"its first {failed} runs all failed with {next(iter(codes))}"
        return None
