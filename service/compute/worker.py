"""The worker process of the pool: one order, one reply."""

import logging
from collections.abc import Callable
from typing import Any

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
from cardan.service.intake import WantedSceneError
from cardan.service.processes.channel import Channel
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import Stop, next_task

log = logging.getLogger("cardan.worker")


def main(channel: Channel, limits: WorkerLimits) -> None:
    """Reply to orders until told to stop."""
    while not isinstance(order := next_task(channel), Stop):
        channel.send(reply(order, limits.scene))


def reply(order: m.Order, limits: Limits) -> m.Reply:
    """Return the reply; what is wrong with the order is a reply too."""
    try:
        return answer(order, limits)
    except WantedSceneError as wanted:
        return m.WantedScene(wanted.scene_id)
    except ServiceError as error:
        return m.Refused(error.problem)
    except MemoryError:
        detail = "The request needs more memory than a worker may use."
        return m.Refused(ServiceError(ErrorCode.SCENE_TOO_LARGE, detail).problem)
    except OSError as error:
        # a full or read-only disk; another process would fail as this one
        detail = f"A file of the answer cannot be written: {error.strerror or error}."
        return m.Refused(ServiceError(ErrorCode.STORAGE_FAILED, detail).problem)


LIMITED: dict[type, Callable[[Any, Limits], m.Reply]] = {
    m.TakeOrder: scenes.take,
    m.StoreOrder: scenes.store,
    m.BatchOrder: batches.take,
    m.ReportOrder: scenes.report,
    m.CheckOrder: scenes.check,
    m.DynamicsOrder: dynamics.answer,
    m.MassesOrder: dynamics.answer,
    m.MechanicsOrder: mechanics.answer,
    m.StudyOrder: studies.answer,
    m.SearchOrder: studies.answer,
}
UNLIMITED: dict[type, Callable[[Any], m.Reply]] = {
    m.FingerprintOrder: scenes.fingerprint,
    m.VerifyOrder: encoding.verify,
    m.EncodeOrder: encoding.encode,
    m.SolveOrder: complementarity.solve,
}
"""Where each kind of order is done: with the limits of scenes, or without."""


def answer(order: m.Order, limits: Limits) -> m.Reply:
    """Have the order done where its kind belongs. Raises ServiceError or MemoryError."""
    kind = type(order)
    return LIMITED[kind](order, limits) if kind in LIMITED else UNLIMITED[kind](order)
