"""Measure everything, print it, keep it: `python -m benchmarks` or `make bench`.

Nothing is asserted here: times belong to a machine. Wants a quiet one.
"""

from datetime import UTC, datetime

from benchmarks import machine, peers, prices, report, scenes, starts, viewers
from benchmarks.server import serving
from cardan import engine


def main() -> None:
    """One run."""
    results: dict[str, object] = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.describe(),
    }
    print("kernels: cold and warm start", flush=True)
    results["starts"] = starts.measure()
    engine.warmup()
    print("steps of the examples", flush=True)
    results["scenes"] = scenes.measure()
    print("what being exact costs", flush=True)
    results["prices"] = prices.measure()
    print("sessions and viewers", flush=True)
    with serving() as server:
        results["server_ready_s"] = round(server.ready_s, 2)
        results["viewers"] = viewers.measure(server)
    results["peers"] = peers.measure()
    report.write(results)
    report.show(results)
    print(f"kept in {report.FOLDER}")


if __name__ == "__main__":
    main()
