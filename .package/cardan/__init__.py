"""Rigid multibody dynamics: load a scene, simulate it, inspect the result.

>>> import cardan
>>> scene = cardan.load_scene(cardan.example_text("double-pendulum"))
>>> recording, summary = cardan.run(scene)

`import cardan` loads nothing else; each public name loads its module when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardan.engine import Dynamics as Dynamics
    from cardan.engine import Failure as Failure
    from cardan.engine import Recording as Recording
    from cardan.engine import Rollout as Rollout
    from cardan.engine import SceneError as SceneError
    from cardan.engine import Simulation as Simulation
    from cardan.engine import StateRollout as StateRollout
    from cardan.engine import StatesInvalid as StatesInvalid
    from cardan.engine import preview as preview
    from cardan.engine import recording_steps as recording_steps
    from cardan.engine import rollout as rollout
    from cardan.engine import rollout_states as rollout_states
    from cardan.engine import run as run
    from cardan.engine import sample as sample
    from cardan.engine import verify as verify
    from cardan.engine.compiler.warmup import warmup as warmup
    from cardan.engine.complementarity import Solution as Solution
    from cardan.engine.complementarity import solve_box_lcp as solve_box_lcp
    from cardan.engine.complementarity import solve_cone as solve_cone
    from cardan.engine.complementarity import solve_lcp as solve_lcp
    from cardan.engine.complementarity import solve_linear as solve_linear
    from cardan.engine.complementarity import solve_lp as solve_lp
    from cardan.engine.complementarity import solve_mixed_lcp as solve_mixed_lcp
    from cardan.engine.complementarity import solve_qp as solve_qp
    from cardan.engine.statics.inverse_kinematics import inverse_kinematics as inverse_kinematics
    from cardan.engine.statics.linearization import linearize as linearize
    from cardan.engine.statics.statics import statics as statics
    from cardan.schemas import Scene as Scene
    from cardan.schemas import SceneInvalid as SceneInvalid
    from cardan.schemas import apply_overrides as apply_overrides
    from cardan.schemas import load_scene as load_scene
    from cardan.schemas import scene_hash as scene_hash
    from cardan.schemas import scene_warnings as scene_warnings
    from cardan.schemas.examples import example_names as example_names
    from cardan.schemas.examples import example_text as example_text

# the version of the distribution, the engine and the API's `/v1/version`
__version__ = "0.2.0"

_PUBLIC = {
    "engine": (
        "Dynamics",
        "Failure",
        "Recording",
        "Rollout",
        "SceneError",
        "Simulation",
        "StateRollout",
        "StatesInvalid",
        "preview",
        "recording_steps",
        "rollout",
        "rollout_states",
        "run",
        "sample",
        "verify",
        "warmup",
    ),
    "engine.complementarity": (
        "Solution",
        "solve_box_lcp",
        "solve_cone",
        "solve_lcp",
        "solve_linear",
        "solve_lp",
        "solve_mixed_lcp",
        "solve_qp",
    ),
    "engine.statics.inverse_kinematics": ("inverse_kinematics",),
    "engine.statics.linearization": ("linearize",),
    "engine.statics.statics": ("statics",),
    "schemas": (
        "Scene",
        "SceneInvalid",
        "apply_overrides",
        "load_scene",
        "scene_hash",
        "scene_warnings",
    ),
    "schemas.examples": ("example_names", "example_text"),
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names}


if not TYPE_CHECKING:  # a type checker would take any name for a public one

    def __getattr__(name: str) -> Any:
        """Load a public name."""
        module = _MODULE_OF.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{module}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Public names, loaded or not."""
    return sorted({"__version__", *_MODULE_OF})
