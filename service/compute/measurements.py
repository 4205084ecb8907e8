"""Measured values of a study: given as arrays, or as a table in CSV."""

import csv
import io
import itertools
import math
from collections.abc import Mapping
from typing import Any

from cardan.schemas import Fault
from cardan.schemas.error import shown
from cardan.schemas.study import MOST_POINTS, MeasuredData, MeasuredSeries, StudyRequest


def with_values(ask: StudyRequest) -> tuple[StudyRequest, list[Fault]]:
    """The request with columns of its CSV text filled in as times and values, and its faults."""
    objective = ask.objective
    assert isinstance(objective, MeasuredData)
    faults: list[Fault] = []
    try:
        table = {} if objective.csv is None else _read_csv(objective.csv)
    except ValueError as error:
        hint = "First a line of headings, then numbers, separated by commas."
        return ask, [fault_at("/objective/csv", str(error), None, hint)]
    filled = []
    for number, series in enumerate(objective.series):
        place = f"/objective/series/{number}"
        taken, fault = _filled(series, table, place)
        faults += [fault] if fault is not None else _faults_of_values(taken, place)
        filled.append(taken)
    points = sum(len(series.values or ()) for series in filled)
    if points > MOST_POINTS:
        message = f"A study takes at most {MOST_POINTS} measured values."
        faults.append(fault_at("/objective/series", message, points, "Leave some out."))
    data = objective.model_copy(update={"series": tuple(filled), "csv": None})
    return ask.model_copy(update={"objective": data}), faults


def _filled(
    series: MeasuredSeries, table: Mapping[str, list[float | None]], place: str
) -> tuple[MeasuredSeries, Fault | None]:
    given = series.times is not None and series.values is not None
    if series.csv_column is None:
        missing = None if given else fault_at(
            place, "A series needs times and values, or csv_column.", None, "Give them."
        )  # fmt: skip
        return series, missing
    if series.times is not None or series.values is not None:
        hint = "Remove times and values."
        return series, fault_at(place, "The values are in the CSV text already.", None, hint)
    if series.csv_column not in table:
        known = ", ".join(table) or "no CSV text is given"
        where = f"{place}/csv_column"
        return series, fault_at(where, "There is no such column.", series.csv_column, known)
    times = next(iter(table.values()))
    pairs = [
        (time, value)
        for time, value in zip(times, table[series.csv_column], strict=True)
        if time is not None and value is not None
    ]
    taken, values = (tuple(column) for column in zip(*pairs, strict=True)) if pairs else ((), ())
    update = {"times": taken, "values": values, "csv_column": None}
    return series.model_copy(update=update), None


def _faults_of_values(series: MeasuredSeries, place: str) -> list[Fault]:
    times, values = series.times or (), series.values or ()
    if not values or len(times) != len(values):
        message = f"It has {len(times)} times and {len(values)} values."
        return [fault_at(place, message, len(values), "Give one value per time, and one at least.")]
    if any(later <= earlier for earlier, later in itertools.pairwise(times)):
        return [fault_at(f"{place}/times", "Times must increase.", None, "Sort them.")]
    return []


def _read_csv(text: str) -> dict[str, list[float | None]]:
    """The columns of a table by heading. Raises ValueError."""
    rows = [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    if len(rows) < 2:
        raise ValueError("The CSV text has no line of numbers.")
    headings = [heading.strip() for heading in rows[0]]
    if len(set(headings)) < len(headings):
        raise ValueError("Two columns of the CSV text have the same heading.")
    columns: dict[str, list[float | None]] = {heading: [] for heading in headings}
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(headings):
            raise ValueError(f"Row {number} has {len(row)} fields, the headings {len(headings)}.")
        for heading, field in zip(headings, row, strict=True):
            columns[heading].append(_number(field.strip(), number))
    return columns


def _number(field: str, row: int) -> float | None:
    if not field:
        return None
    try:
        value = float(field)
    except ValueError:
        raise ValueError(f"Row {row} has {shown(field)}, which is not a number.") from None
    if not math.isfinite(value):
        raise ValueError(f"Row {row} has {shown(field)}, which is not finite.")
    return value


def fault_at(pointer: str, message: str, got: Any, hint: str) -> Fault:
    """Return a fault of a study request."""
    return Fault(pointer=pointer, code="invalid_study", message=message, got=got, hint=hint)
