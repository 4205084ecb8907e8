from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytest
from sqlalchemy import Engine

from cardan.service.intake import SceneText
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.services import Services
from cardan.service.settings import Settings
from cardan.service.simulations.admission import Admission, NewBatch, NewRun
from cardan.service.simulations.catalog import Catalog
from cardan.service.simulations.postgres import open_postgres
from cardan.service.simulations.sqlite import open_database
from cardan.service.stored_scenes import StoredScenes
from tests.service.simulations.one_by_one import Queue

SCENE = SceneText("hash", '{"bodies": []}')


@dataclass
class Desk:
    """A queue on a real database, with what belongs to it; `open` opens the database again."""

    open: Callable[[], Engine]
    queue: Queue
    admission: Admission
    catalog: Catalog
    scenes: StoredScenes
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


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """Opens the same new database each time it is called."""
    engines: list[Engine] = []
    if request.param == "sqlite":
        open_again = partial(open_database, tmp_path / "queue.sqlite3")
    else:
        address = request.getfixturevalue("postgres").database()
        open_again = partial(open_postgres, address)

    def opened():
        engines.append(open_again())
        return engines[-1]

    yield opened
    for engine in engines:
        engine.dispose()


@pytest.fixture
def desk(database):
    engine = database()
    changed: list[str] = []
    queue = Queue(engine, lease_s=30.0, most_losses=2, changed=changed.append)
    admission = Admission(engine, most_queued=50, key_lifetime_s=60.0)
    return Desk(database, queue, admission, Catalog(engine), StoredScenes(engine), changed)


@pytest.fixture
def services(tmp_path):
    """Those of a service whose slots do not work: the test does."""
    made = Services(Settings(data=tmp_path / "data", workers=1), WorkerLauncher())
    yield made
    made._engine.dispose()
    made._lock.close()
