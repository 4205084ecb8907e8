"""`cardan compare A B`: differences of two recordings or scenes, column by column."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cardan.schemas import SceneInvalid
from cardan.service.cli import console
from cardan.service.cli.running import simulate
from cardan.service.cli.scene_source import read_scene
from cardan.service.recordings.columns import unit_of
from cardan.service.recordings.folder import load
from cardan.service.recordings.formats import FORMATS, FormatError
from cardan.service.recordings.tables import Tables, to_numpy

ENDINGS = frozenset(form.ending for form in FORMATS.values())
SCENE_ENDINGS = frozenset({".json", ".yaml", ".yml"})
# rows of two tables match when they are of one moment and these columns agree
ROW_KEYS = ("body", "joint", "coordinate", "sensor", "row", "body_a", "body_b")
# times that differ by less are one moment [s]
SAME_TIME = 1e-9


@dataclass(frozen=True)
class Difference:
    """How far one column is apart; `first_step` is the first step above the tolerance."""

    table: str
    column: str
    unit: str
    rows: int
    largest: float
    rms: float
    first_step: int | None


def compare(a: str, b: str, tolerance: float, *, as_json: bool) -> list[Difference]:
    """Read or run both and print the differences, largest first."""
    left, right = (_recording(source, as_json=as_json) for source in (a, b))
    found, notes = differences(left, right, tolerance)
    if not found:
        reasons = "".join(f"; {note}" for note in notes)
        console.stop(f"nothing can be compared: {a} and {b} share no row{reasons}", as_json=as_json)
    if as_json:
        console.print_json({"differences": [vars(d) for d in found], "notes": notes})
        return found
    head = ("channel", "unit", "largest", "RMS", "first step", "rows")
    rows = [
        (
            f"{d.table}.{d.column}",
            d.unit,
            f"{d.largest:.3e}",
            f"{d.rms:.3e}",
            "-" if d.first_step is None else str(d.first_step),
            str(d.rows),
        )
        for d in found
    ]
    console.print_table(head, rows)
    for note in notes:
        console.err().print(f"note: {note}")
    worst = min((d.first_step for d in found if d.first_step is not None), default=None)
    if worst is None:
        console.out().print(f"No difference above {tolerance:g}.")
    else:
        console.out().print(f"They part at step {worst}.")
    return found


def differences(
    left: Tables, right: Tables, tolerance: float = 0.0
) -> tuple[list[Difference], list[str]]:
    """Return differences of all common numeric columns, and notes on columns of only one.

    Rows of runs with different steps belong together where their times agree.
    """
    found: list[Difference] = []
    notes: list[str] = []
    when = "step"
    if left.metadata.get("dt") != right.metadata.get("dt"):
        when = "time"
        notes.append("their time steps differ: rows of the same time are compared")
    for name in dict.fromkeys([*left.tables, *right.tables]):
        if name not in left.tables or name not in right.tables:
            notes.append(f"only one of them has the table {name}")
            continue
        one, other = (_columns(part.tables[name]) for part in (left, right))
        if set(one) != set(other):
            notes.append(f"{name}: only one has {', '.join(sorted(set(one) ^ set(other)))}")
        rows, rows_other = _matching(one, other, when)
        if len(rows) < max(_length(one), _length(other)):
            notes.append(
                f"{name}: {len(rows)} rows are in both; A has {_length(one)}, B {_length(other)}"
            )
        found += _table_differences(
            name,
            {key: values[rows] for key, values in one.items()},
            {key: values[rows_other] for key, values in other.items()},
            tolerance,
        )
    return sorted(found, key=lambda d: -d.largest), notes


def _table_differences(
    name: str, one: dict[str, Any], other: dict[str, Any], tolerance: float
) -> list[Difference]:
    found = []
    for column, values in one.items():
        # how long a step took is no result
        if unit_of(name, column) == "us" or column in (*ROW_KEYS, "step", "time"):
            continue
        if column not in other or not len(values):
            continue
        if values.dtype.kind not in "fiu" or other[column].dtype.kind not in "fiu":
            continue
        gap = np.abs(values.astype(float) - other[column].astype(float))
        gap = np.where(np.isnan(gap), np.where(np.isnan(values), 0.0, np.inf), gap)
        beyond = np.nonzero(gap > tolerance)[0]
        found.append(
            Difference(
                table=name,
                column=column,
                unit=unit_of(name, column),
                rows=len(gap),
                largest=float(gap.max()),
                rms=float(np.sqrt(np.mean(gap**2))),
                first_step=int(one["step"][beyond].min()) if len(beyond) else None,
            )
        )
    return found


def _matching(
    one: dict[str, npt.NDArray[Any]], other: dict[str, npt.NDArray[Any]], when: str
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows of both tables with the same keys; the n-th of equal keys belongs to the n-th."""
    places: dict[tuple[Any, ...], int] = {}
    for row, key in enumerate(_keys(one, when)):
        places[key] = row
    pairs = [(places[key], row) for row, key in enumerate(_keys(other, when)) if key in places]
    matched = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return matched[:, 0], matched[:, 1]


def _keys(columns: dict[str, npt.NDArray[Any]], when: str) -> list[tuple[Any, ...]]:
    names = [name for name in ROW_KEYS if name in columns]
    moments = columns["step"] if when == "step" else np.rint(columns["time"] / SAME_TIME)
    counted: dict[tuple[Any, ...], int] = {}
    keys = []
    for key in zip(moments.tolist(), *(columns[name].tolist() for name in names), strict=True):
        number = counted.get(key, 0)
        counted[key] = number + 1
        keys.append((*key, number))
    return keys


def _columns(table: Any) -> dict[str, npt.NDArray[Any]]:
    return {name: to_numpy(table[name]) for name in table.column_names}


def _length(columns: dict[str, npt.NDArray[Any]]) -> int:
    return len(columns["step"])


def _recording(source: str, *, as_json: bool) -> Tables:
    """The recording of a file or folder, or of a run of a scene."""
    path = Path(source)
    ending = path.suffix.lower()
    is_file = os.path.isfile(source)
    # of a .json file its content decides: a recording or a scene
    if os.path.isdir(source) or (is_file and ending in ENDINGS and ending != ".json"):
        return _load(path, as_json=as_json)
    if is_file and ending == ".json":
        try:
            return load(path)
        except (FormatError, ValueError):
            pass
    try:
        scene, _ = read_scene(source)
        from cardan.engine import SceneError

        try:
            with console.progress_bar(source, shown=not as_json) as tell:
                return simulate(scene, tell)[0]
        except SceneError as error:
            console.stop_with_faults(error.errors, as_json=as_json)
    except SceneInvalid as error:
        if is_file and ending not in SCENE_ENDINGS and error.errors[0].code == "syntax":
            kinds = ", ".join(sorted(form.ending for form in FORMATS.values() if form.read_back))
            message = f"{source} is neither a scene nor named as a recording is ({kinds})"
            console.stop(message, as_json=as_json)
        console.stop_with_faults(error.errors, as_json=as_json)


def _load(path: Path, *, as_json: bool) -> Tables:
    try:
        return load(path)
    except (OSError, ValueError) as error:
        console.stop(f"{path} cannot be read as a recording: {error}", as_json=as_json)
