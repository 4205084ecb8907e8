"""Imported once by the fork server: loads every compiled kernel, then its forks start in ms.

The fork server swallows a failing import, so `WARM_SECONDS` proves to a worker that this file ran
to its end; the API process asks the first worker for it.
"""

import gc
import sys

from cardan.service.processes.limits import die_with_parent
from cardan.service.processes.uncollected import uncollected


def _warm() -> float:
    """Compile or load every kernel and step a scene with a contact; seconds."""
    with uncollected():
        # what workers run, imported before the fork
        import cardan.service.compute.worker
        import cardan.service.sessions.replay_worker
        import cardan.service.sessions.worker
        import cardan.service.simulations.worker  # noqa: F401
        from cardan import engine
        from cardan.service.sessions.rehearsal import rehearse
    seconds = engine.warmup()
    rehearse()
    # what is loaded now stays shared between the forks: the collector need not touch its pages
    gc.collect()
    gc.freeze()
    return seconds


def _in_fork_server() -> bool:
    return any("multiprocessing.forkserver" in argument for argument in sys.orig_argv)


if _in_fork_server():
    die_with_parent()

WARM_SECONDS: float | None = _warm()
