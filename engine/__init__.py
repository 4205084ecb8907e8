"""Rigid multibody dynamics: build a scene, advance it, ask it how true it is."""

from engine.build.faults import SceneError
from engine.recording import Recording, recording_steps, run
from engine.simulation import ENGINE_VERSION, Failure, Simulation
from engine.warmup import warmup

__all__ = [
    "ENGINE_VERSION",
    "Failure",
    "Recording",
    "SceneError",
    "Simulation",
    "recording_steps",
    "run",
    "warmup",
]
