"""The worker process of the pool: one order, one reply."""

import logging
from multiprocessing.connection import Connection

from cardan.schemas import Limits
from cardan.service.compute import complementarity, dynamics, scenes
from cardan.service.compute import messages as m
from cardan.service.errors import ErrorCode, ServiceError

log = logging.getLogger("cardan.worker")


def serve(pipe: Connection, order: m.Order, limits: Limits) -> None:
    """Send the reply to an order."""
    pipe.send(reply(order, limits))


def reply(order: m.Order, limits: Limits) -> m.Reply:
    """Return the reply; what is wrong with the order is a reply too."""
    try:
        match order:
            case m.TakeOrder():
                return scenes.take(order, limits)
            case m.ReportOrder():
                return scenes.report(order, limits)
            case m.CheckOrder():
                return scenes.check(order, limits)
            case m.DynamicsOrder():
                return dynamics.answer(order, limits)
            case m.SolveOrder():
                return complementarity.solve(order)
    except ServiceError as error:
        return m.Refused(error.problem)
    except MemoryError:
        detail = "The request needs more memory than a worker may use."
        return m.Refused(ServiceError(ErrorCode.SCENE_TOO_LARGE, detail).problem)
