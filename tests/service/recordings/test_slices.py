import numpy as np
import pytest

from cardan.service.recordings.slices import Slice, SliceError, cut
from cardan.service.recordings.tables import from_columns, to_numpy


def steps(recording, table="bodies"):
    return sorted(set(to_numpy(recording.tables[table]["step"]).tolist()))


def test_a_span_of_time_includes_its_ends(recording):
    part = cut(recording, Slice(start=0.1, end=0.2))
    assert steps(part) == [10, 20]
    assert steps(part, "energy") == [10, 20]


def test_the_ends_of_a_span_are_times_as_they_are_written():
    number = np.arange(101)  # 35 * 0.01 is a bit more than 0.35
    columns = {"time": number * 0.01, "step": number, "kinetic": np.zeros(101)}
    whole = from_columns({"energy": columns}, {})
    for k in range(101):
        assert steps(cut(whole, Slice(start=k / 100, end=k / 100)), "energy") == [k]


def test_a_stride_counts_frames_not_rows(recording):
    assert steps(cut(recording, Slice(stride=2))) == [0, 20, 40]
    assert cut(recording, Slice(stride=2)).tables["bodies"].num_rows == 6


def test_a_stride_means_the_same_frames_in_every_table(recording):
    sparse = recording.tables["energy"].take([1, 2, 4])
    part = recording.with_tables(dict(recording.tables) | {"energy": sparse})
    assert steps(cut(part, Slice(stride=2)), "energy") == [20, 40]


def test_bodies_are_chosen_by_name(recording):
    part = cut(recording, Slice(bodies=("floor",)))
    assert set(part.tables["bodies"]["body"].to_pylist()) == {"floor"}
    assert part.tables["energy"].num_rows == 5


def test_an_unknown_body_is_named_with_those_there_are(recording):
    with pytest.raises(SliceError, match=r"'flor'.*floor") as caught:
        cut(recording, Slice(bodies=("flor",)))
    assert (caught.value.field, caught.value.got) == ("bodies", "flor")


def test_channels_choose_columns_and_tables(recording):
    part = cut(recording, Slice(channels=("pose",)))
    assert list(part.tables) == ["bodies"]
    assert "px" in part.tables["bodies"].column_names
    assert "vx" not in part.tables["bodies"].column_names
    assert list(cut(recording, Slice(channels=("energy",))).tables) == ["energy"]


@pytest.mark.parametrize(
    ("part", "field"),
    [(Slice(start=2.0, end=1.0), "from"), (Slice(channels=("poses",)), "channels")],
)
def test_impossible_slices_are_refused(recording, part, field):
    with pytest.raises(SliceError) as caught:
        cut(recording, part)
    assert caught.value.field == field


def test_an_unknown_channel_is_named_with_those_there_are(recording):
    with pytest.raises(SliceError, match=r"'poses'.*pose, velocity"):
        cut(recording, Slice(channels=("poses",)))


def test_the_whole_is_untouched(recording):
    assert cut(recording, Slice()) is recording
