"""The worker process of the pool: one question, one answer."""

from multiprocessing.connection import Connection
from typing import Any

from cardan.schemas import Limits
from cardan.service.compute import complementarity
from cardan.service.compute import messages as m
from cardan.service.compute.checking import check
from cardan.service.compute.dynamics import compute


def serve(pipe: Connection, order: Any, limits: Limits) -> None:
    """Answer one order."""
    if isinstance(order, m.CheckOrder):
        pipe.send(check(order, limits))
    elif isinstance(order, m.ComputeOrder):
        pipe.send(compute(order, limits))
    elif isinstance(order, m.SolveOrder):
        pipe.send(complementarity.solve(order))
