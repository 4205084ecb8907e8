"""The same scene gives the same bits, however it is cut into pieces."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine import Recording, Simulation, run
from cardan.schemas import load_scene
from cardan.schemas.examples import example_document
from tests.engine.scenes import simulate
from tests.laws.test_energy import chain

pytestmark = pytest.mark.law


# counts and kinds; masses are the model's
KEPT = ("count", "dropped", "friction_kind", "inverse_mass")


def poison(sim: Simulation) -> None:
    """Fill everything that is garbage between steps with NaN (and wild integers)."""
    work = sim.work
    parts = [work.motion, work.rows, work.contacts, work.problem, sim.collision]
    parts += [work.dense, work.dense.graph, work.dense.equations]
    parts += [work.impacts, work.impacts.problem, work.tree]
    parts += [sim.world.clock, sim.world.spare, sim.world.spare.state]
    for part in parts:
        for name, array in zip(part._fields, part, strict=True):
            if name in KEPT or not isinstance(array, np.ndarray):
                continue
            array[...] = np.nan if array.dtype.kind == "f" else 7


@pytest.mark.parametrize("name", ["double-pendulum", "wheeled-cart", "box-tower"])
def test_pieces_snapshots_and_poison_change_nothing(name: str) -> None:
    scene = load_scene(example_document(name))
    whole = Simulation(scene)
    whole.advance(240)
    pieces = Simulation(scene)
    for n in (1, 7, 32, 60):
        pieces.advance(n)
    saved = pieces.snapshot()
    pieces.advance(140)
    resumed = Simulation(scene)
    resumed.restore(saved)
    poison(resumed)
    resumed.advance(140)
    assert pieces.state_hash() == whole.state_hash()
    assert resumed.state_hash() == whole.state_hash()
    assert resumed.snapshot() == whole.snapshot()


def test_snapshot_of_another_scene_is_refused() -> None:
    with pytest.raises(ValueError, match="belongs to"):
        simulate(chain(1, "ball")).restore(simulate(chain(2, "ball")).snapshot())
    with pytest.raises(ValueError, match="not a snapshot"):
        simulate(chain(1, "ball")).restore(b"something else")


def test_two_runs_record_the_same_bits() -> None:
    scene = load_scene(example_document("double-pendulum"))
    tables = [run(scene)[0].tables() for _ in range(2)]
    for name in ("bodies", "joints", "energy"):
        for column, values in tables[0][name].items():
            assert np.array_equal(values, tables[1][name][column]), (name, column)


def test_recording_keeps_first_every_and_last_step() -> None:
    document = example_document("double-pendulum")
    document["simulation"]["duration"] = 0.0255
    document["record"] = {"every": 10}
    scene = load_scene(document)
    recording, summary = run(scene)
    assert isinstance(recording, Recording)
    steps = recording.tables()["energy"]["step"]
    assert steps.tolist() == [0, 10, 20, summary["steps"]]
