"""Rigid multibody dynamics: build a scene, advance it, and measure the errors of the result."""

if __name__ != "cardan.engine":
    raise ImportError("import cardan.engine: `engine` would be a second copy of it")

from cardan.engine.account import ENGINE_VERSION
from cardan.engine.accuracy import Choice, add_accuracy, choose
from cardan.engine.build.faults import SceneError
from cardan.engine.build.options import with_options
from cardan.engine.compiler.warmup import warmup
from cardan.engine.dynamics import Dynamics, StatesInvalid
from cardan.engine.errors import Failure
from cardan.engine.overview import add_reactions, preview
from cardan.engine.recording import Recording, recording_steps, run
from cardan.engine.sampling import sample
from cardan.engine.simulation import Simulation
from cardan.engine.variants import Rollout, rollout
from cardan.engine.verification import add_verification, verify

__all__ = [
    "ENGINE_VERSION",
    "Choice",
    "Dynamics",
    "Failure",
    "Recording",
    "Rollout",
    "SceneError",
    "Simulation",
    "StatesInvalid",
    "add_accuracy",
    "add_reactions",
    "add_verification",
    "choose",
    "preview",
    "recording_steps",
    "rollout",
    "run",
    "sample",
    "verify",
    "warmup",
    "with_options",
]
