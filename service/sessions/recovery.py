"""Data for the successor of a lost worker: checkpoint, log, last step seen."""

from dataclasses import dataclass, field

from cardan.service.sessions.messages import Checkpoint, LogEntry, PlaybackState, Start


@dataclass(slots=True)
class Recovery:
    """Kept by the API process. All of it belongs to the epoch of the last checkpoint."""

    scene: str
    run: PlaybackState
    snapshot: bytes = b""
    log: list[LogEntry] = field(default_factory=list)
    last_step: int = 0

    def on_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Resume from here; what was logged before is inside it."""
        if checkpoint.run.epoch != self.run.epoch:
            self.last_step = checkpoint.step
        self.run, self.snapshot = checkpoint.run, checkpoint.body
        self.log.clear()
        self.on_step(checkpoint.run.epoch, checkpoint.step)

    def on_command(self, entry: LogEntry) -> None:
        """A command took effect."""
        self.log.append(entry)
        self.on_step(self.run.epoch, entry.step)

    def on_step(self, epoch: int, step: int) -> None:
        """The worker has reported this step: a successor first catches up to it."""
        if epoch == self.run.epoch:
            self.last_step = max(self.last_step, step)

    def start(self, heartbeat_seconds: float, snapshot_seconds: float) -> Start:
        """The first message to a successor (or to the first worker)."""
        return Start(
            scene=self.scene,
            run=self.run,
            replay=list(self.log),
            until_step=self.last_step,
            heartbeat_seconds=heartbeat_seconds,
            snapshot_seconds=snapshot_seconds,
            body=self.snapshot,
        )
