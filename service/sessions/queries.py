"""Queries of the state between two steps: from an op and its arguments to plain values.

Arguments have passed the models of `cardan.schemas.query`; names of bodies are checked here.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine import Simulation
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.sessions.commands import Arguments, check_name

MAX_HITS = 200_000
PROBLEM_COLUMNS = ("lam", "force", "w", "b", "bias", "cfm", "mu", "active", "redundant")


def answer_query(simulation: Simulation, op: str, arguments: Arguments) -> dict[str, Any]:
    """The answer. Raises ServiceError."""
    for field in ("body_a", "body_b"):
        check_name(arguments, field, "body", simulation.body_names)
    try:
        answer = QUERIES[op](simulation, arguments)
    except ValueError as error:
        raise ServiceError(
            ErrorCode.QUERY_IMPOSSIBLE, f"{str(error)[:1].upper()}{str(error)[1:]}."
        ) from error
    return {"step": simulation.step_count, "time": simulation.time, **answer}


def _raycast(simulation: Simulation, arguments: Arguments) -> dict[str, Any]:
    rays = arguments["rays"]
    found = simulation.raycast(
        [ray["origin"] for ray in rays],
        [ray["direction"] for ray in rays],
        [math.inf if ray["max_distance"] is None else ray["max_distance"] for ray in rays],
        mask=arguments["mask"],
        every=arguments["hits"] == "all",
    )
    # an origin or a direction near the largest numbers may take a hit beyond them
    found = found[np.isfinite([found[name] for name in ("distance", "px", "py", "pz")]).all(axis=0)]
    if len(found) > MAX_HITS:
        message = f"The rays meet {len(found)} shapes; the limit of one answer is {MAX_HITS}."
        fault = {
            "pointer": "/rays",
            "code": "limit_exceeded",
            "message": message,
            "got": len(rays),
            "hint": "Cast fewer rays at once, or take the nearest hits.",
        }
        raise ServiceError(ErrorCode.LIMIT_EXCEEDED, message, errors=[fault])
    points = np.stack([found[name] for name in ("px", "py", "pz")], axis=1).tolist()
    normals = np.stack([found[name] for name in ("nx", "ny", "nz")], axis=1).tolist()
    results: list[dict[str, Any]] = [{"hits": []} for _ in rays]
    for hit, point, normal in zip(found, points, normals, strict=True):
        results[hit["ray"]]["hits"].append(
            {
                "body": simulation.body_names[hit["body"]],
                "shape": int(hit["shape"]),
                "distance": float(hit["distance"]),
                "point": point,
                "normal": normal,
            }
        )
    return {"results": results}


def _closest_points(simulation: Simulation, arguments: Arguments) -> dict[str, Any]:
    if arguments["body_a"] == arguments["body_b"]:
        message = "A body has no distance to itself."
        fault = {
            "pointer": "/body_b",
            "code": "unsuitable",
            "message": message,
            "got": arguments["body_b"],
            "hint": "Name two bodies.",
        }
        raise ServiceError(ErrorCode.QUERY_IMPOSSIBLE, message, errors=[fault])
    found = simulation.closest_points(arguments["body_a"], arguments["body_b"])
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in found.items()
    }


def _sparse(matrix: NDArray[np.float64]) -> dict[str, Any]:
    rows, columns = np.nonzero(matrix)
    return {
        "shape": list(matrix.shape),
        "rows": rows.tolist(),
        "columns": columns.tolist(),
        "values": matrix[rows, columns].tolist(),
    }


def _problem(simulation: Simulation, _arguments: Arguments) -> dict[str, Any]:
    p = simulation.problem()
    numbers = zip(*(getattr(p, name).tolist() for name in PROBLEM_COLUMNS), strict=True)
    rows = [
        {
            **row._asdict(),
            **dict(zip(PROBLEM_COLUMNS, values, strict=True)),
            "lo": float(lo) if np.isfinite(lo) else None,
            "hi": float(hi) if np.isfinite(hi) else None,
            "normal": int(normal) if normal >= 0 else None,
        }
        for row, values, lo, hi, normal in zip(p.rows, numbers, p.lo, p.hi, p.normal, strict=True)
    ]
    moving = zip(p.velocities, p.v_before, p.v_free, p.v_after, strict=True)
    return {
        "step": p.step,
        "time": p.time,
        "time_step": p.time_step,
        "formulation": simulation.formulation,
        "rows": rows,
        "velocities": [
            {"name": name, "before": float(before), "free": float(free), "after": float(after)}
            for name, before, free, after in moving
        ],
        "J": _sparse(p.J),
        "M": _sparse(p.M),
    }


QUERIES: dict[str, Callable[[Simulation, Arguments], dict[str, Any]]] = {
    "raycast": _raycast,
    "closest_points": _closest_points,
    "problem": _problem,
}
