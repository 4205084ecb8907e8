"""Workers that are stopped at a bad moment."""

import os
import signal
from typing import Any

from cardan.service.processes.worker import Call, Worker


def stop_with_next_order(worker: Worker) -> int:
    """Give no time to the process of a worker from its next order on; its id."""
    send = worker.send

    def stop_and_send(message: Any) -> None:
        if not isinstance(message, Call):
            os.kill(worker.pid, signal.SIGSTOP)
        send(message)

    setattr(worker, "send", stop_and_send)  # noqa: B010
    return worker.pid
