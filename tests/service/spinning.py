"""A worker that takes its first message and then computes for ever, without a sign of life."""

from cardan.service.processes.channel import Channel
from cardan.service.processes.limits import WorkerLimits


def main(channel: Channel, _limits: WorkerLimits) -> None:
    channel.receive()
    while True:
        pass
