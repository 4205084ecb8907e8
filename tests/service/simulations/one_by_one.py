"""The queue for single runs: the service claims, renews and ends whole groups."""

from cardan.service.simulations import queue
from cardan.service.simulations.claims import Claim
from cardan.service.simulations.rows import Outcome
from cardan.service.simulations.states import RunState


class Queue(queue.Queue):
    """Groups of one run."""

    def claim(self, owner: str) -> Claim | None:
        """Take the next run that may start, or `None`."""
        claims = self.claim_group(owner, lambda _batch, _waiting: 1)
        return claims[0] if claims else None

    def renew(
        self, claim: Claim, step: int = 0, real_time_factor: float | None = None
    ) -> RunState | None:
        """Lengthen the lease and note the progress; the state now, or `None` when fenced."""
        return self.renew_all([claim], {claim.run_id: (step, real_time_factor)}).get(claim.run_id)

    def finish(self, claim: Claim, outcome: Outcome) -> RunState | None:
        """Commit how the attempt ended; the state reached, or `None` when fenced."""
        return self.finish_all([(claim, outcome)]).get(claim.run_id)
