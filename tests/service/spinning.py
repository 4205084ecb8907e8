"""A worker that takes its first message and then computes for ever, without a sign of life."""

from cardan.service.compute.messages import SolveOrder
from cardan.service.processes.channel import Channel
from cardan.service.processes.limits import WorkerLimits
from cardan.service.sessions.messages import Start


def main(channel: Channel, _limits: WorkerLimits) -> None:
    assert isinstance(channel.receive(), SolveOrder | Start)
    while True:
        pass
