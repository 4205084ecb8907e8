"""The same run once more, or its beginning, with other steps or an exact solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.placement import Placement
from cardan.engine.build.presence import tells_by_steps
from cardan.engine.outputs.account import Account
from cardan.engine.verdict import Names, doubling, solver_errors


class SecondRuns(Account):
    """An account that does its run again (engine/verdict/doubling.py, solver_errors.py): the whole
    of a small one, of a longer one the beginning."""

    scene: Any
    advance: Callable[..., int]
    _follows_scene = False

    if TYPE_CHECKING:

        def __init__(self, scene: Any) -> None:
            """Build a simulation of the scene."""

        @property
        def step_count(self) -> int:
            """Steps done."""
            ...

        @property
        def placement(self) -> Placement:
            """The trees of the scene."""
            ...

    def leave_scene(self) -> None:
        """Note that the run is no more that of its scene, so that second runs say nothing of it."""
        if self._follows_scene:
            return
        self._span = 0
        self._due: tuple[int, ...] = ()
        self._trail: list[doubling.Moment] = []
        self._is_lost = False

    @contextmanager
    def as_the_scene_says(self) -> Iterator[None]:
        """Within this context, changes are those of the scene itself."""
        self._follows_scene = True
        try:
            yield
        finally:
            self._follows_scene = False

    @property
    def can_be_repeated(self) -> bool:
        """Whether second runs tell something of this one: it is that of its scene."""
        return self._span > 0

    def begin_trail(self) -> None:
        """Prepare to compare this run with others of its scene."""
        self._follow_scene()
        self._note_trail()

    def find_trail_later(self, *, can_be_repeated: bool) -> None:
        """Forget the moments before a snapshot, from which the run goes on; it says whether there
        are any."""
        self.leave_scene()
        if can_be_repeated:
            self._follow_scene()
            self._is_lost = len(self._due) > 0

    def _follow_scene(self) -> None:
        """Choose the moments that are compared: none of them was seen yet."""
        self.leave_scene()
        self._measured: NDArray[np.float64] | None = None
        self._unsolved: NDArray[np.float64] | None = None
        if tells_by_steps(self.scene):
            return
        self._span = doubling.repeated_steps(self.model, self.options, self.total_steps)
        if self._span > 0 and doubling.can_be_doubled(self.model):
            self._due = doubling.due_steps(self._span)

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
        """Findings of the account; at the end of a run its errors are measured.

        They are where no command changed the run, and where estimates of the step alone decide
        whether it is trusted (engine/verdict/doubling.py). The beginning of a longer run withdraws
        none of them.
        """
        found = super().findings()
        if self.step_count != self.total_steps or self.failure is not None:
            return found
        return self._by_other_steps(found) or self._by_exact_solution()

    def _by_other_steps(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Findings with errors that runs with other steps measured, where these may change them."""
        if not self._due or not doubling.can_change(found):
            return found
        if found and self._span < self.total_steps:
            return found
        if self._is_lost:
            self._trail, self._is_lost = self._own_trail(), False
        # a state that was written from outside, as that of a lane, was not seen on its way
        if not 0 < len(self._due) == len(self._trail):
            return found
        shares = self._shares()
        if self._measured is None:
            self._measured = self._measure(shares, found)
        return doubling.with_measured(found, self._measured, shares, self._names())

    def _by_exact_solution(self) -> list[dict[str, Any]]:
        """Findings of a run with the same step and an exact solver, if residuals might matter."""
        depends = solver_errors.may_depend_on_solver(self.model, self.state, self.options)
        if not self.can_be_repeated or not depends:
            return []
        shares = self._shares()
        if self._unsolved is None:
            exact = self._same_with(1.0, solver=self._exact_solver())
            self._unsolved = shares.of(self._own_trail(), exact._trail)
        return solver_errors.solver_findings(self._unsolved, shares, self._names())

    def _names(self) -> Names:
        return Names(self.body_names, self.joint_names)

    def _shares(self) -> doubling.Shares:
        motion = self.placement.joint_motion
        parted = self._parted_ways()
        return doubling.Shares(self.model, self.state, self.options, motion, parted)

    def _exact_solver(self) -> Any:
        """The solver of the scene, made exact."""
        options = self.scene.simulation.solver
        return options.model_copy(update={"method": "auto", **solver_errors.EXACT})

    def _measure(self, shares: doubling.Shares, found: list[dict[str, Any]]) -> NDArray[np.float64]:
        """Errors of the motions of this run, over their reaches; none: its estimates stand.

        Where bodies touch a coarser run says little.
        """
        if shares.touch:
            return doubling.first_order_errors(self._differences(shares, 0.5, 0), 0.5)
        if self._span < doubling.LEAST_DOUBLED:
            return doubling.first_order_errors(self._differences(shares, 0.25, 0), 0.25)
        first = doubling.first_compared(found)
        if shares.thresholds:
            return doubling.first_order_errors(self._differences(shares, 0.25, first), 0.25)
        estimate = doubling.estimated(self.model, self.state, self.options, self._parted_ways())
        factor = doubling.coarser_step(estimate, self._span)
        coarse, abrupt = self._differences(shares, float(factor), first), shares.abrupt
        if not doubling.contradicts(found, coarse, factor, abrupt=abrupt):
            return np.zeros(0)
        if abrupt:
            return doubling.first_order_errors(self._differences(shares, 0.25, first), 0.25)
        return doubling.measured_errors(coarse, self._differences(shares, 0.5, first), factor)

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

    def _own_trail(self) -> list[doubling.Moment]:
        """The moments of this run, of the same once more where they were not noted."""
        if 0 < len(self._due) == len(self._trail):
            return self._trail
        return self._same_with(1.0)._trail

    def _same_with(self, factor: float, **more: Any) -> SecondRuns:
        """This run with `factor` times the step and other options, and its moments."""
        options = self.scene.simulation
        changed = options.model_copy(update={"dt": factor * options.dt, **more})
        update = {"simulation": changed, "sensors": ()}
        other = type(self)(self.scene.model_copy(update=update))
        other.leave_scene()
        due = self._due or doubling.due_steps(self._span)
        shared = [step for step in due if doubling.ends_with(step, factor)]
        other._due = tuple(round(step / factor) for step in shared)
        other._note_trail()
        other.advance(other._due[-1])
        if other.failure is not None:
            last = other._trail[-1]
            lost = last._replace(places=np.full_like(last.places, np.nan))
            other._trail += [lost] * (len(shared) - len(other._trail))
        return other
