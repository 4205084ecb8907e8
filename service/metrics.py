"""Measurements for operators, as Prometheus collects them.

Counters and histograms are written where things happen; what can be read at any time is read when
it is asked for (`service/api/metrics.py`).
"""

from collections.abc import Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()

SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
STEP_SECONDS = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 1.0)

REQUESTS = Histogram(
    "cardan_request_seconds",
    "Time to the first byte of an answer, by method and class of status",
    ("method", "status"),
    buckets=SECONDS,
    registry=REGISTRY,
)
CLAIM_TO_START = Histogram(
    "cardan_claim_to_start_seconds",
    "From the claim of a run to its first step; of runs that are claimed alone",
    buckets=SECONDS,
    registry=REGISTRY,
)
QUEUED = Histogram(
    "cardan_queued_seconds",
    "From the admission of a run to its claim",
    buckets=(*SECONDS, 1000.0, 10_000.0),
    registry=REGISTRY,
)
STEP = Histogram(
    "cardan_step_seconds",
    "Mean time of a step of a run, recording included",
    buckets=STEP_SECONDS,
    registry=REGISTRY,
)
REAL_TIME_FACTOR = Histogram(
    "cardan_real_time_factor",
    "Simulated time over wall clock of a run",
    buckets=(0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0),
    registry=REGISTRY,
)
RUNS = Counter(
    "cardan_runs", "Attempts at runs that ended, by outcome", ("event",), registry=REGISTRY
)
WORKERS_LOST = Counter(
    "cardan_workers_lost",
    "Processes that ended unasked while they computed runs",
    registry=REGISTRY,
)
FRAMES_DROPPED = Counter(
    "cardan_frames_dropped", "Frames that a slow viewer did not get", registry=REGISTRY
)
LOOP_LAG = Histogram(
    "cardan_loop_lag_seconds",
    "How late the event loop wakes a coroutine",
    buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
    registry=REGISTRY,
)
LARGEST_LAG = Gauge(
    "cardan_loop_lag_max_seconds", "The largest lag since the start", registry=REGISTRY
)


def note_end(event: str, real_time_factor: float | None, summary: Mapping[str, Any] | None) -> None:
    """Count the end of an attempt at a run."""
    RUNS.labels(event).inc()
    if real_time_factor is not None:
        REAL_TIME_FACTOR.observe(real_time_factor)
    if summary is not None and "timing" in summary:
        STEP.observe(1e-6 * float(summary["timing"]["per_step_us"]))
