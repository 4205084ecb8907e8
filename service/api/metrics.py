"""`/metrics` for Prometheus: what `service/metrics.py` counted, and the present state."""

import asyncio
from collections.abc import Iterator

from fastapi import APIRouter, Request
from fastapi.responses import Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from cardan.service import clock
from cardan.service.api.dependencies import PROBLEMS, TheServices
from cardan.service.metrics import LARGEST_LAG, LOOP_LAG, REGISTRY
from cardan.service.services import Services
from cardan.service.sessions.registry import Sessions

router = APIRouter(tags=["health"], responses=PROBLEMS)

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LAG_PERIOD = 0.25


@router.get("/metrics", response_class=Response)
def metrics(request: Request, services: TheServices) -> Response:
    """Measurements in the text format of Prometheus; with keys the scope `metrics` is needed."""
    present = CollectorRegistry()
    present.register(Present(services, request.app.state.sessions))
    return Response(generate_latest(REGISTRY) + generate_latest(present), media_type=MEDIA_TYPE)


class Present(Collector):
    """Gauges that are read when they are asked for."""

    def __init__(self, services: Services, sessions: Sessions) -> None:
        """Read these parts of the service."""
        self._services = services
        self._sessions = sessions

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Read the present state."""
        services = self._services
        runs = GaugeMetricFamily("cardan_runs_present", "Runs by state", labels=["state"])
        for state, count in services.catalog.counts().items():
            runs.add_metric([state], count)
        yield runs
        live = list(services.dispatcher.live.values())
        factors = [one.real_time_factor for one in live if one.real_time_factor is not None]
        yield _gauge("cardan_runs_live", "Runs that workers compute now", len(live))
        yield _gauge(
            "cardan_live_real_time_factor",
            "Mean simulated time over wall clock of the runs that are computed",
            sum(factors) / len(factors) if factors else 0.0,
        )
        yield _gauge(
            "cardan_dead_slots",
            "Threads of the queue that have ended",
            services.dispatcher.dead_slots,
        )
        if services.placement is not None:
            cores, members = services.placement.cores, services.placement.members
            yield _gauge("cardan_cluster_cores", "Cores of the nodes of the cluster", cores)
            yield _gauge("cardan_cluster_members", "Actors that compute runs, or will", members)
        yield _gauge("cardan_free_bytes", "Free space for results", services.free_bytes)
        sessions = self._sessions.all()
        yield _gauge("cardan_sessions", "Live sessions", len(sessions))
        yield _gauge(
            "cardan_viewers", "Viewers of all sessions", sum(len(one.fanout) for one in sessions)
        )
        yield _gauge(
            "cardan_session_restarts",
            "Workers of the present sessions that were lost and replaced",
            sum(one.restarts for one in sessions),
        )


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)


async def watch_loop() -> None:
    """Measure how late the event loop wakes; runs until it is cancelled."""
    largest = 0.0
    while True:
        asked = clock.monotonic() + LAG_PERIOD
        await asyncio.sleep(LAG_PERIOD)
        lag = max(0.0, clock.monotonic() - asked)
        LOOP_LAG.observe(lag)
        if lag > largest:
            largest = lag
            LARGEST_LAG.set(lag)
