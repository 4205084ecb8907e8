"""A tiny scene that is built, moved and shown, so that the next one meets everything loaded.

The fork server does it before its first fork. A process that was forked writes to pages that it
shares with the fork server, and each first write costs a copy: a spare worker has them behind it.
"""

from cardan.engine import Simulation
from cardan.schemas import Scene
from cardan.service.sessions import frames

TINY_SCENE = {
    "version": 1,
    "simulation": {"dt": 0.001, "duration": 0.01},
    "bodies": [
        {
            "name": "floor",
            "type": "static",
            "shapes": [{"type": "plane", "normal": [0, 0, 1], "offset": 0}],
        },
        {
            "name": "ball",
            "position": [0, 0, 0.0999],
            "mass": 1.0,
            "shapes": [{"type": "sphere", "radius": 0.1}],
        },
    ],
}


def rehearse() -> None:
    """Step a scene with a contact, save and restore it, and make a frame of it."""
    text = Scene.model_validate(TINY_SCENE).model_dump_json()
    simulation = Simulation(Scene.model_validate_json(text))
    simulation.advance(10)
    simulation.restore(simulation.snapshot())
    shot = frames.Shot(0, "paused", 0.0)
    frames.frame(simulation, shot, ("friction",))
    frames.describe(simulation)
