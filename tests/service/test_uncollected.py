"""The collector rests while much is imported, and works again afterwards, come what may."""

import gc
from collections.abc import Iterator

import pytest

from cardan.service.processes.uncollected import uncollected


@pytest.fixture
def thawed() -> Iterator[int]:
    """How many objects are out of the collector's sight before; all come back afterwards."""
    yield gc.get_freeze_count()
    gc.unfreeze()


def test_what_is_there_at_the_end_is_out_of_sight(thawed: int) -> None:
    with uncollected():
        assert not gc.isenabled()
        mine: list[list[int]] = [[]]
    assert gc.isenabled()
    assert gc.get_freeze_count() > thawed
    assert not any(one is mine for one in gc.get_objects())


def test_an_import_that_fails_leaves_a_collector_that_works(thawed: int) -> None:
    with pytest.raises(ImportError), uncollected():
        raise ImportError
    assert gc.isenabled()
