"""Sweeps with Anderson acceleration (anderson.py), as many as the load paths need."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.stopping import GOES_ON, StoppingRules, rule_that_applies
from cardan.engine.solvers.sweeps.joints import sweep_joints
from cardan.engine.solvers.sweeps.pgs import sweep_cone
from cardan.engine.solvers.sweeps.simd.anderson import (
    BUSY_SWEEPS,
    CALM,
    JOINT_SWEEPS,
    begin_singly,
    beta_of,
    carry_singly,
    compare,
    list_moving,
    longest_way,
    sweeps_for,
)
from cardan.engine.solvers.sweeps.simd.work import (
    BEGIN,
    COMPARE,
    carry_on,
    do_work,
    sweep_lanes,
)
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Lanes, Problem


@kernel
def sweep_accelerated(
    problem: Problem,
    lanes: Lanes,
    n: int,
    v: NDArray,
    rules: StoppingRules,
    busy: float,
) -> tuple[int, int]:
    """Sweep the box rows and the n listed contacts; return STOPPED_..., sweeps.

    With max_iterations = 0 their number is chosen from the load paths; where the first sweep
    changes more than `busy` [m/s] there are more, which end at a larger change.

    Reads   v   M^-1 J^T lam
    Writes  lanes.data, problem.lam of lanes.rest and box rows, v; lanes scratch
    Source  Anderson 1965; decision 0126
    Check   tests/engine/solvers/sweeps/test_anderson.py
    """
    do_work(problem, lanes, v, BEGIN, 0, lanes.count[0])
    begin_singly(problem, lanes)
    n_moving, done, most = 0, 0, rules.max_iterations
    before = -1.0
    while True:
        change = sweep_joints(problem, lanes, v)
        change = max(change, sweep_lanes(problem, lanes, v, 1.0))
        for r in range(lanes.count[1]):
            change = max(change, sweep_cone(problem, v, lanes.rest[r], 1.0))
        done += 1
        status = rule_that_applies(rules, inf, change)
        if status != GOES_ON:
            return status, done
        if done == 1:
            n_moving = list_moving(problem, lanes, n)
            if most == 0:
                most = sweeps_for(longest_way(problem, lanes, n, n_moving), n)
                most = max(most, JOINT_SWEEPS) if lanes.count[2] > 0 else most
                if change > busy:
                    most = max(most, BUSY_SWEEPS)
                    rules = StoppingRules(0, -1.0, max(rules.step, CALM * busy))
        if done >= most:
            return STOPPED_MAX_ITERATIONS, done
        do_work(problem, lanes, v, COMPARE, 0, lanes.count[0])
        squared, both = compare(problem, lanes)
        beta, before = beta_of(squared, both, before), squared
        carry_singly(problem, lanes, beta)
        carry_on(problem, lanes, v, n_moving, beta)
