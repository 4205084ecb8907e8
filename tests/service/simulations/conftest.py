from dataclasses import dataclass, field

import pytest

from cardan.service.intake import SceneText
from cardan.service.simulations.admission import Admission, NewBatch, NewRun
from cardan.service.simulations.catalog import Catalog
from cardan.service.simulations.queue import Queue
from cardan.service.simulations.tables import open_database

SCENE = SceneText("hash", '{"bodies": []}')


@dataclass
class Desk:
    """A queue on a real database file, with what belongs to it."""

    queue: Queue
    admission: Admission
    catalog: Catalog
    changed: list = field(default_factory=list)

    def simulation(self, **more):
        return self.admission.simulation(SCENE, NewRun({}, 100), **more)

    def batch(self, runs, on_failure="continue", max_parallel=None):
        batch = NewBatch("b", ["/x"], [], max_parallel, on_failure)
        return self.admission.batch(SCENE, batch, [NewRun({"/x": i}, 10) for i in range(runs)])

    def state(self, run_id):
        row = self.catalog.run(run_id)
        assert row is not None
        return row["state"]

    def states(self, batch_id):
        return [row["state"] for row in self.catalog.runs_of(batch_id)]


@pytest.fixture
def desk(tmp_path):
    engine = open_database(tmp_path / "queue.sqlite3")
    changed: list[str] = []
    queue = Queue(engine, lease_s=30.0, most_losses=2, changed=changed.append)
    admission = Admission(engine, most_queued=50, key_lifetime_s=60.0)
    yield Desk(queue, admission, Catalog(engine), changed)
    engine.dispose()
