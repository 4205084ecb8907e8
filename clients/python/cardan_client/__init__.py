"""Client of Cardan: simulations, batches and live sessions over HTTP, results as arrays."""

from cardan_client.aio import AsyncClient
from cardan_client.client import Client, Session, StoredScene
from cardan_client.complementarity import Solution
from cardan_client.errors import PackageMissing, Problem, RunFailed
from cardan_client.frames import Frame
from cardan_client.live import AsyncSession
from cardan_client.mechanics import Equilibrium, LinearModel, Posture
from cardan_client.results import Result, State, Trajectory
from cardan_client.scenes import AsyncStoredScene
from cardan_client.view import View

__all__ = [
    "AsyncClient",
    "AsyncSession",
    "AsyncStoredScene",
    "Client",
    "Equilibrium",
    "Frame",
    "LinearModel",
    "PackageMissing",
    "Posture",
    "Problem",
    "Result",
    "RunFailed",
    "Session",
    "Solution",
    "State",
    "StoredScene",
    "Trajectory",
    "View",
]
