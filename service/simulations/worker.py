"""The worker process: receive orders, simulate, answer.

It does not use the database: the dispatcher commits its reports.
"""

from cardan.service.processes.channel import Channel
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import Stop, next_task
from cardan.service.simulations import messages as m
from cardan.service.simulations.execution import Execution


def main(channel: Channel, limits: WorkerLimits) -> None:
    """Work on orders; a StopRun may arrive after its run has ended: nothing to stop."""
    execution = Execution(channel, limits.scene)
    while not isinstance(order := next_task(channel), Stop):
        if isinstance(order, m.RunOrder):
            execution.work(order)
