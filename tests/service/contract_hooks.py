"""What schemathesis cannot guess: values at places that exist, and scenes that end soon.

Loaded by `SCHEMATHESIS_HOOKS` where data shall fit the schema. Three of four bodies that create
become ones that the service accepts; the rest stays as it was made.
"""

from typing import Any

import schemathesis
from hypothesis import strategies

SHORT = {"/simulation/duration": 0.02}
SCENE = {
    "version": 1,
    "bodies": [{"name": "a", "mass": 1.0, "shapes": [{"type": "sphere", "radius": 0.1}]}],
}
CREATING: dict[str, dict[str, Any]] = {
    "POST /v1/scenes": SCENE,
    "PUT /v1/scenes/{scene_id}": {**SCENE, "name": "put"},
    "PATCH /v1/scenes/{scene_id}": {"name": "changed", "gravity": [0.0, 0.0, -1.62]},
    "POST /v1/simulations": {"scene": "double-pendulum", "overrides": SHORT},
    "POST /v1/batches": {
        "scene": "double-pendulum",
        "overrides": SHORT,
        "variations": {"/simulation/dt": [0.001, 0.002]},
    },
    "POST /v1/studies": {
        "scene": "double-pendulum",
        "overrides": SHORT,
        "variables": [{"pointers": ["/gravity/2"], "lower": -10.0, "upper": -1.0}],
        "objective": {"type": "metric", "metric": "energy.final"},
        "max_evaluations": 4,
    },
    "POST /v1/sessions": {"scene": "double-pendulum"},
}


@schemathesis.hook
def before_generate_body(context: Any, strategy: Any) -> Any:
    """Return how bodies are made; where the good one is sent, no other is made before."""
    good = CREATING.get(context.operation.label)
    if good is None:
        return strategy
    return strategies.integers(0, 3).flatmap(
        lambda drawn: strategies.just(good) if drawn else strategy
    )


@schemathesis.hook
def map_headers(context: Any, headers: Any) -> Any:
    """Return the headers that are sent: a batch or a study that still runs cannot be deleted."""
    if context.operation.label not in ("POST /v1/batches", "POST /v1/studies"):
        return headers
    return {**(headers or {}), "Prefer": "wait=10"}
