"""Studies in the database. A study is its request, its state, and the batch of its evaluations."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, RowMapping, select, update

from cardan.service import clock
from cardan.service.simulations import tables as t
from cardan.service.simulations.catalog import Catalog
from cardan.service.simulations.rows import count_states, newest_first
from cardan.service.simulations.states import TERMINAL, RunState

Row = RowMapping
OPEN = ("running", "cancelling")


class StudyRows:
    """Reads and changes of studies; safe to use from many threads."""

    def __init__(self, engine: Engine) -> None:
        """Use an open database."""
        self._reading = engine
        self._writing = engine.execution_options(writes=True)

    def get(self, study_id: str) -> Row | None:
        """One study, or `None`."""
        with self._reading.connect() as connection:
            found = connection.execute(select(t.studies).where(t.studies.c.id == study_id))
            return found.mappings().first()

    def page(
        self, *, before: int | None, size: int, created_by: str | None = None
    ) -> Sequence[Row]:
        """Studies, newest first, with `seq < before`; all, or those of a key."""
        query = newest_first(select(t.studies), t.studies, before, size, created_by)
        with self._reading.connect() as connection:
            return connection.execute(query).mappings().all()

    def open(self) -> Sequence[Row]:
        """Studies that have not ended, in the order of their creation."""
        query = select(t.studies).where(t.studies.c.state.in_(OPEN)).order_by(t.studies.c.seq)
        with self._reading.connect() as connection:
            return connection.execute(query).mappings().all()

    def remove_aged(self, before: float, catalog: Catalog) -> Iterator[str]:
        """Delete studies that ended before a time [s]; recordings they had, as each is deleted."""
        query = select(t.studies).where(t.studies.c.finished_at < before)
        with self._reading.connect() as connection:
            rows = connection.execute(query).mappings().all()
        for row in rows:
            yield from self.remove(row, catalog) or ()

    def evaluations(self, batch_id: str) -> Sequence[Row]:
        """Number, id, state, overrides and measures of all runs, in their order."""
        columns = (t.runs.c.number, t.runs.c.id, t.runs.c.state, t.runs.c.overrides)
        query = select(*columns, t.runs.c.summary["measures"].label("measures"))
        with self._reading.connect() as connection:
            of_batch = query.where(t.runs.c.batch_id == batch_id).order_by(t.runs.c.number)
            return connection.execute(of_batch).mappings().all()

    def counts(self, batch_id: str) -> tuple[int, int, int]:
        """Runs of a batch: all, those that have ended, and those of them that did not succeed."""
        with self._reading.connect() as connection:
            found = count_states(connection, batch_id)
        ended = sum(found.get(state, 0) for state in TERMINAL)
        return sum(found.values()), ended, ended - found.get(RunState.SUCCEEDED, 0)

    def cancel(self, study_id: str) -> bool:
        """Ask for the end of a study; False: it does not run."""
        running = (t.studies.c.id == study_id, t.studies.c.state == "running")
        with self._writing.begin() as connection:
            asked = update(t.studies).where(*running).values(state="cancelling")
            return bool(connection.execute(asked).rowcount)

    def finish(self, study_id: str, state: str, **values: Any) -> None:
        """End a study that has not ended; `values`: best, reason, error."""
        open_ = (t.studies.c.id == study_id, t.studies.c.state.in_(OPEN))
        ended: Mapping[str, Any] = {"state": state, "finished_at": clock.now(), **values}
        with self._writing.begin() as connection:
            connection.execute(update(t.studies).where(*open_).values(ended))

    def remove(self, row: Row, catalog: Catalog) -> list[str] | None:
        """Delete an ended study with its batch; the recordings it had, `None`: it has not ended."""
        if row["state"] in OPEN:
            return None
        return catalog.remove_batch(row["batch_id"], with_study=True)
