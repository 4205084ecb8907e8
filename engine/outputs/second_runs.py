"""The same run once more with other steps, where its verdict hangs on an estimate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.placement import Placement
from cardan.engine.outputs.account import Account
from cardan.engine.verdict import Names, doubling


class SecondRuns(Account):
    """An account that does a small run again (engine/verdict/doubling.py)."""

    scene: Any
    advance: Callable[..., int]

    if TYPE_CHECKING:

        def __init__(self, scene: Any) -> None:
            """As a simulation."""

        @property
        def step_count(self) -> int:
            """Steps done."""
            ...

        @property
        def placement(self) -> Placement:
            """The trees of the scene."""
            ...

    def leave_scene(self) -> None:
        """It moves otherwise than the scene says: other runs of that tell nothing about it."""
        self._due: list[int] = []
        self._trail: list[doubling.Moment] = []
        self._is_lost = False

    def lose_trail(self) -> None:
        """It goes on from a snapshot, which has none of the moments before."""
        self._trail, self._is_lost = [], len(self._due) > 0

    def begin_trail(self) -> None:
        """Prepare to compare this run with others of its scene, if it is small."""
        self.leave_scene()
        self._measured: NDArray[np.float64] | None = None
        if doubling.can_be_doubled(self.model, self.options, self.total_steps):
            self._due = doubling.due_steps(self.total_steps)
            self._note_trail()

    def _steps_at_once(self, n: int) -> int:
        """n, or the steps up to the next moment that is compared."""
        seen = len(self._trail)
        if self._is_lost or seen == len(self._due):
            return n
        return min(n, self._due[seen] - self.step_count)

    def _note_trail(self) -> None:
        """Note the present moment, if it is compared."""
        seen = len(self._trail)
        if self._is_lost or seen == len(self._due):
            return
        if self.step_count == self._due[seen]:
            self._trail.append(doubling.moment(self.state))

    def findings(self) -> list[dict[str, Any]]:
        """As of an account; at the end of a small run its errors are measured.

        That is where nobody did anything to it, and where it depends on estimates of the step alone
        whether the run is trusted (engine/verdict/doubling.py).
        """
        found = super().findings()
        ended = len(self._due) > 0 and self.step_count == self.total_steps
        if not ended or self.failure is not None or not doubling.can_change(found):
            return found
        if self._is_lost:
            self._find_trail()
        # a state that was written from outside, as that of a lane, was not seen on its way
        if not 0 < len(self._due) == len(self._trail):
            return found
        names = Names(self.body_names, self.joint_names)
        motion = self.placement.joint_motion
        shares = doubling.Shares(self.model, self.state, self.options, motion)
        if self._measured is None:
            self._measured = self._measure(shares, found)
        return doubling.with_measured(found, self._measured, shares, names)

    def _measure(self, shares: doubling.Shares, found: list[dict[str, Any]]) -> NDArray[np.float64]:
        """Errors of the motions of this run, over their reaches; none: its estimates stand.

        Where bodies touch a coarser run says little, and an estimate that is large stands.
        """
        if shares.touch and found:
            return np.zeros(0)
        if shares.touch:
            return doubling.first_order_errors(self._differences(shares, 0.5, 0))
        estimate = doubling.estimated(self.model, self.state, self.options)
        factor = doubling.coarser_step(estimate, self.total_steps)
        first = doubling.first_compared(found)
        coarse = self._differences(shares, float(factor), first)
        if not doubling.contradicts(found, coarse, factor):
            return np.zeros(0)
        fine = self._differences(shares, 0.5, first)
        if doubling.has_rigid_stops(self.model):
            # impacts at stops are of first order, whatever two differences say
            return doubling.first_order_errors(fine)
        return doubling.measured_errors(coarse, fine, factor)

    def _differences(
        self, shares: doubling.Shares, factor: float, first: int
    ) -> NDArray[np.float64]:
        """(m,): of the motions of this run to those with `factor` times the step, at the start and
        from the step `first` on."""
        other = self._same_with(factor)
        seen = [k for k, step in enumerate(self._due) if doubling.ends_with(step, factor)]
        both = zip(seen, other._trail, strict=True)
        kept = [(self._trail[k], one) for k, one in both if not 0 < self._due[k] < first]
        return shares.of([own for own, _ in kept], [one for _, one in kept])

    def _find_trail(self) -> None:
        """The moments that a snapshot lacks, of the same run once more.

        If that ends elsewhere, this one was moved otherwise than the scene says.
        """
        again = self._same_with(1.0)
        again.advance(self.total_steps - again.step_count)
        motion = [(one.p_WB, one.q_WB, one.v_WB_W) for one in (again.state, self.state)]
        if all(map(np.array_equal, *motion)):
            self._trail, self._is_lost = again._trail, False
        else:
            self.leave_scene()

    def _same_with(self, factor: float) -> SecondRuns:
        """This run with `factor` times the step, and its moments."""
        options = self.scene.simulation
        changed = {"simulation": options.model_copy(update={"dt": factor * options.dt})}
        other = type(self)(self.scene.model_copy(update=changed | {"sensors": ()}))
        other.leave_scene()
        shared = [step for step in self._due if doubling.ends_with(step, factor)]
        other._due = [round(step / factor) for step in shared]
        other._note_trail()
        other.advance(other._due[-1])
        if other.failure is not None:
            last = other._trail[-1]
            lost = last._replace(places=np.full_like(last.places, np.nan))
            other._trail += [lost] * (len(shared) - len(other._trail))
        return other
