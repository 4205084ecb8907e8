"""Rigid multibody dynamics: build a scene, advance it, ask it how true it is."""

from engine.build.faults import SceneError
from engine.compiler.warmup import warmup
from engine.dynamics import Dynamics, StatesInvalid
from engine.errors import Failure
from engine.recording import Recording, recording_steps, run
from engine.simulation import ENGINE_VERSION, Simulation

__all__ = [
    "ENGINE_VERSION",
    "Dynamics",
    "Failure",
    "Recording",
    "SceneError",
    "Simulation",
    "StatesInvalid",
    "recording_steps",
    "run",
    "warmup",
]
