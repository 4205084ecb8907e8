"""The worker process of the pool: one order, one reply."""

import logging

from cardan.schemas import Limits
from cardan.service.compute import (
    batches,
    complementarity,
    dynamics,
    encoding,
    mechanics,
    scenes,
    studies,
)
from cardan.service.compute import messages as m
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.channel import Channel
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import Stop

log = logging.getLogger("cardan.worker")


def main(channel: Channel, limits: WorkerLimits) -> None:
    """Reply to orders until told to stop."""
    while not isinstance(order := channel.receive(), Stop):
        channel.send(reply(order, limits.scene))


def reply(order: m.Order, limits: Limits) -> m.Reply:
    """Return the reply; what is wrong with the order is a reply too."""
    try:
        return answer(order, limits)
    except ServiceError as error:
        return m.Refused(error.problem)
    except MemoryError:
        detail = "The request needs more memory than a worker may use."
        return m.Refused(ServiceError(ErrorCode.SCENE_TOO_LARGE, detail).problem)
    except OSError as error:
        # a full or read-only disk; another process would fail as this one
        detail = f"A file of the answer cannot be written: {error.strerror or error}."
        return m.Refused(ServiceError(ErrorCode.STORAGE_FAILED, detail).problem)


def answer(order: m.Order, limits: Limits) -> m.Reply:
    """Have the order done where its kind belongs. Raises ServiceError or MemoryError."""
    match order:
        case m.TakeOrder():
            return scenes.take(order, limits)
        case m.BatchOrder():
            return batches.take(order, limits)
        case m.FingerprintOrder():
            return scenes.fingerprint(order)
        case m.ReportOrder():
            return scenes.report(order, limits)
        case m.CheckOrder():
            return scenes.check(order, limits)
        case m.DynamicsOrder():
            return dynamics.answer(order, limits)
        case m.MechanicsOrder():
            return mechanics.answer(order, limits)
        case m.StudyOrder() | m.SearchOrder():
            return studies.answer(order, limits)
        case m.VerifyOrder():
            return encoding.verify(order)
        case m.EncodeOrder():
            return encoding.encode(order)
        case m.SolveOrder():
            return complementarity.solve(order)
