"""APGD against Gauss-Seidel and the others: `python -m benchmarks.solvers` or `make solvers`.

Every method on every friction problem: iterations and processor time until the residual is at
most 1e-2 ... 1e-8 of the largest |q|. Writes docs/solvers: report.json, plots, and the tables of
its README between their marks. Arguments: parts of names of problems, to look at some of them only;
nothing is written then.
"""

import json
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import solver_scenes
from benchmarks.machine import describe, single_threaded
from benchmarks.solver_problems import Named, piles, published
from cardan.engine.compiler.warmup import solve_plain_problems
from cardan.engine.complementarity import Complementarity, MethodOptions, Solution, solve

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "solvers"
FILE = FOLDER / "report.json"
TOLERANCES = tuple(10.0**-k for k in range(2, 9))

# name of a line -> law, method, relaxation
LINES = {
    "Jacobi": ("coulomb", "jacobi", 1.0),
    "Gauss-Seidel": ("coulomb", "gauss_seidel", 1.0),
    "SOR 1.3": ("coulomb", "sor", 1.3),
    "PGS-SM": ("coulomb", "pgs_sm", 1.0),
    "NNCG": ("coulomb", "nncg", 1.0),
    "APGD": ("coulomb", "apgd", 1.0),
    "proximal Newton": ("coulomb", "proximal", 1.0),
    "Gauss-Seidel on cones": ("relaxed", "gauss_seidel", 1.0),
    "APGD on cones": ("relaxed", "apgd", 1.0),
}
# iterations at most, by unknowns; and of the Newton method, whose steps are dear
MOST = ((7_000, 50_000), (20_000, 10_000), (10**9, 2_500))
MOST_NEWTON = ((5_000, 20_000), (10**9, 0))


def limit(n: int, table: tuple[tuple[int, int], ...]) -> int:
    """Iterations allowed for n unknowns."""
    return next(most for largest, most in table if n <= largest)


def relaxed(problem: Complementarity) -> Complementarity:
    """The same contacts under the convex relaxation."""
    return Complementarity(
        problem.A, problem.b, problem.lo, problem.hi, problem.mu, problem.tangents, True
    )


def timed(problem: Complementarity, method: str, options: MethodOptions) -> tuple[Solution, float]:
    """A solution and its processor time [s]."""
    began = time.process_time()
    solution = solve(problem, method, options)
    return solution, time.process_time() - began


def end_of_turn(history: np.ndarray, k: int) -> int:
    """Iterations until the residual of iteration k (from 0) was there.

    Subspace minimisation has an answer at the end of its turns only, and notes it for all of them.
    """
    while k + 1 < len(history) and history[k + 1] == history[k]:
        k += 1
    return k + 1


def measure_iterations(problem: Complementarity, method: str, omega: float) -> dict[str, Any]:
    """One run for the residuals, one without looking for the time of an iteration."""
    most = limit(problem.n, MOST)
    unit = float(np.abs(problem.b).max())
    last = MethodOptions(TOLERANCES[-1], most, omega, history=True)
    seen = solve(problem, method, last)
    history = np.minimum.accumulate(seen.history) / unit
    count = min(len(history), 300)
    _, seconds = timed(problem, method, MethodOptions(0.0, count, omega))
    each = seconds / max(count, 1)
    found: list[float | None] = []
    for tolerance in TOLERANCES:
        reached = np.flatnonzero(history <= tolerance)
        count_to = int(reached[0]) + 1 if len(reached) else None
        if count_to is not None and method == "pgs_sm":
            count_to = end_of_turn(seen.history, count_to - 1)
        found.append(count_to)
    shown = np.unique(np.geomspace(1, max(len(history), 1), 80).astype(int))
    return {
        "iterations": found,
        "seconds": [None if k is None else k * each for k in found],
        "curve": [[int(k), float(f"{history[k - 1]:.3g}")] for k in shown if k <= len(history)],
        "per_iteration": each,
        "coulomb_error": seen.coulomb_error,
    }


def measure_newton(problem: Complementarity) -> dict[str, Any]:
    """One run for each tolerance: its steps cost differently."""
    most = limit(problem.n, MOST_NEWTON)
    counts: list[float | None] = []
    seconds: list[float | None] = []
    curve = []
    error = None
    for tolerance in TOLERANCES:
        solution, spent = None, 0.0
        if most:
            solution, spent = timed(problem, "proximal", MethodOptions(tolerance, most))
        if solution is None or not solution.solved:
            missing = len(TOLERANCES) - len(counts)
            counts += [None] * missing
            seconds += [None] * missing
            break
        counts.append(solution.iterations)
        seconds.append(spent)
        curve.append([solution.iterations, tolerance])
        error = solution.coulomb_error
    return {
        "iterations": counts,
        "seconds": seconds,
        "curve": curve,
        "per_iteration": None,
        "coulomb_error": error,
    }


def measure_auto(problem: Complementarity) -> dict[str, Any]:
    """What `auto` reaches when 1e-9 is asked, small problems only."""
    solution, seconds = timed(problem, "auto", MethodOptions(1e-9))
    return {
        "method": solution.method,
        "seconds": seconds,
        "coulomb_error": solution.coulomb_error,
        "stopped": str(solution.stopped),
    }


def measure(named: Named) -> dict[str, Any]:
    """Every line on one problem."""
    problem = named.problem
    lines = {}
    for name, (law, method, omega) in LINES.items():
        asked = relaxed(problem) if law == "relaxed" else problem
        if method == "proximal":
            lines[name] = measure_newton(asked)
        else:
            lines[name] = measure_iterations(asked, method, omega)
        ends = " ".join("-" if k is None else str(k) for k in lines[name]["iterations"])
        print(f"{named.name}: {name}: {ends}", flush=True)
    return {
        "name": named.name,
        "pile": named.is_pile,
        "contacts": len(problem.mu),
        "unknowns": problem.n,
        "lines": lines,
        "auto": None if problem.n > 10_000 else measure_auto(problem),
    }


def study(wanted: list[str]) -> int:
    """Measure the problems whose names contain one of `wanted` (none: all)."""
    solve_plain_problems()
    FOLDER.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {"machine": describe(), "tolerances": TOLERANCES, "problems": []}
    for named in chain(published(), piles(wanted)):
        if not wanted or any(part in named.name for part in wanted):
            report["problems"].append(measure(named))
        if not wanted:
            FILE.write_text(json.dumps(report, ensure_ascii=False) + "\n", encoding="utf-8")
    if not wanted:
        report["scenes"] = solver_scenes.study()
        FILE.write_text(json.dumps(report, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def main(arguments: list[str]) -> int:
    """Measure in a process of one thread, then draw and write."""
    if arguments[:1] == ["--study"]:
        return study(arguments[1:])
    command = [sys.executable, "-m", "benchmarks.solvers", "--study", *arguments]
    status = subprocess.run(command, env=single_threaded(), check=False).returncode
    if status or arguments:
        return status
    from benchmarks.solver_report import write

    write(json.loads(FILE.read_text(encoding="utf-8")), FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
