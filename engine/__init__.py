"""Rigid multibody dynamics: build a scene, advance it, and measure the errors of the result."""

if __name__ != "cardan.engine":
    raise ImportError("import cardan.engine: `engine` would be a second copy of it")

from cardan.engine.build.faults import SceneError
from cardan.engine.build.masses import masses
from cardan.engine.build.options import with_options
from cardan.engine.compiler.cuda import NoDeviceError
from cardan.engine.compiler.warmup import warmup
from cardan.engine.dynamics import Dynamics, StatesInvalid
from cardan.engine.errors import Failure
from cardan.engine.outputs.account import ENGINE_VERSION
from cardan.engine.runs.accuracy import Choice, add_accuracy, choose
from cardan.engine.runs.overview import add_reactions, preview
from cardan.engine.runs.recording import Recording, recording_steps
from cardan.engine.runs.sampling import sample
from cardan.engine.runs.states import StateRollout, rollout_states
from cardan.engine.runs.variants import Rollout, rollout
from cardan.engine.runs.verification import add_verification, verify
from cardan.engine.runs.whole import run
from cardan.engine.simulation import Simulation

__all__ = [
    "ENGINE_VERSION",
    "Choice",
    "Dynamics",
    "Failure",
    "NoDeviceError",
    "Recording",
    "Rollout",
    "SceneError",
    "Simulation",
    "StateRollout",
    "StatesInvalid",
    "add_accuracy",
    "add_reactions",
    "add_verification",
    "choose",
    "masses",
    "preview",
    "recording_steps",
    "rollout",
    "rollout_states",
    "run",
    "sample",
    "verify",
    "warmup",
    "with_options",
]
