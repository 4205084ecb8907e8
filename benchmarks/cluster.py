"""A batch on two nodes of Ray beside the same batch in services that compute themselves.

`python -m benchmarks.cluster [runs]`; it prints runs per second of each and their ratios, medians
of rounds in turns, and asserts nothing. PostgreSQL, the S3 server and both nodes are on this
machine, and share its cores with the service: what is compared is what placing costs.
"""

import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from benchmarks.bulk import post, show, wait_for_end
from benchmarks.machine import describe
from benchmarks.server import serving
from cardan import engine
from tests.service.bucket_server import BucketServer
from tests.service.postgres_server import PostgresServer
from tests.service.ray_cluster import RayCluster

ROUNDS = 3
WORKERS = 2
# runs of the batch that starts and warms the workers
FIRST = 40


@contextmanager
def services() -> Iterator[dict[str, httpx.Client]]:
    """Clients of the services that are compared, each with as many workers."""
    with ExitStack() as stack:
        made: dict[str, httpx.Client] = {}

        def add(name: str, environ: dict[str, str]) -> None:
            server = stack.enter_context(serving(environ))
            made[name] = stack.enter_context(httpx.Client(base_url=server.http, timeout=120.0))

        postgres, bucket, nodes = PostgresServer(), BucketServer(), RayCluster()
        for running in (postgres, bucket, nodes):
            stack.callback(running.stop)

        def elsewhere() -> dict[str, str]:
            return {
                "CARDAN_DATABASE_URL": postgres.database(),
                "CARDAN_RESULTS_URL": bucket.folder(),
                **bucket.environ,
            }

        workers = {"CARDAN_WORKERS": str(WORKERS)}
        add("embedded", workers)
        add("embedded, PostgreSQL and S3", workers | elsewhere())
        ray = {
            "CARDAN_EXECUTOR": "ray",
            "CARDAN_RAY_ADDRESS": nodes.address,
            "CARDAN_RAY_TOKEN": nodes.token,
        }
        add("two nodes of Ray", ray | elsewhere())
        yield made


def rate(client: httpx.Client, runs: int) -> float:
    """Runs per second of a batch, from its creation to its end."""
    info, created = post(client, runs, "compared")
    began = time.perf_counter()
    ended = wait_for_end(client, info["links"]["self"])
    if ended["status"] != "succeeded":
        raise RuntimeError(f"the batch {ended['status']}")
    return runs / (created + time.perf_counter() - began)


def main() -> None:
    """Print every figure."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    machine = describe()
    print(f"{machine['processor']}, {machine['cores']} cores, {machine['commit']}")
    engine.warmup()
    try:
        with services() as clients:
            for client in clients.values():
                rate(client, FIRST)
            found: dict[str, list[float]] = {name: [] for name in clients}
            for _ in range(ROUNDS):
                for name, client in clients.items():
                    found[name].append(rate(client, runs))
    except pytest.skip.Exception as reason:
        print(f"cluster: SKIPPED, {reason}")
        return
    medians = {name: statistics.median(rates) for name, rates in found.items()}
    for name, median in medians.items():
        show(f"batch of {runs}, {WORKERS} workers: {name}", median, "runs/s")
        ratio = medians["two nodes of Ray"] / median
        print(f"{'  two nodes of Ray beside it':54s} {ratio:12.2f}", flush=True)


if __name__ == "__main__":
    main()
