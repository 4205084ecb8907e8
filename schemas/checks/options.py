"""Options that fit together."""

from collections.abc import Iterator

from cardan.schemas.checks.parts import Parts, fault
from cardan.schemas.error import Fault
from cardan.schemas.options import SimulationOptions

REDUCED_ONLY = ("dop853", "radau")


def option_faults(parts: Parts) -> Iterator[Fault]:
    """Yield what is wrong with the options of the run, the record and the material pairs."""
    if parts.simulation is not None:
        yield from _simulation_faults(parts.simulation)
        yield from _accuracy_faults(parts.simulation)
    if parts.record is not None:
        yield from _record_faults(parts)
    seen: dict[frozenset[str], int] = {}
    for i, pair in parts.pairs.items():
        key = frozenset(pair.materials)
        if key in seen:
            yield fault(
                ["material_pairs", i],
                "duplicate_name",
                f"The pair of '{pair.materials[0]}' and '{pair.materials[1]}' stands already in "
                f"/material_pairs/{seen[key]}.",
                None,
                "Keep one of them.",
            )
        seen.setdefault(key, i)


def _simulation_faults(options: SimulationOptions) -> Iterator[Fault]:
    if options.dt > options.duration:
        yield fault(
            ["simulation", "dt"],
            "out_of_range",
            f"`dt` {options.dt:g} s is longer than the `duration` {options.duration:g} s.",
            options.dt,
            "Shorten the time step.",
        )
    if options.integrator in REDUCED_ONLY and options.formulation != "reduced":
        yield fault(
            ["simulation", "integrator"],
            "not_allowed",
            f"The integrator {options.integrator} needs the formulation 'reduced'; found "
            f"'{options.formulation}'.",
            options.integrator,
            'Set "formulation": "reduced", or take another integrator.',
        )


def _accuracy_faults(options: SimulationOptions) -> Iterator[Fault]:
    if options.accuracy is not None and options.verify:
        yield fault(
            ["simulation", "verify"],
            "not_allowed",
            "`accuracy` compares runs with smaller steps already.",
            True,
            "Keep one of `accuracy` and `verify`.",
        )


def _record_faults(parts: Parts) -> Iterator[Fault]:
    record = parts.record
    if record is None:
        return
    if record.rate is not None and "every" in record.model_fields_set:
        yield fault(
            ["record", "rate"],
            "record_conflict",
            f"The record has both `every` {record.every} and `rate` {record.rate:g}.",
            record.rate,
            "Keep one of them.",
        )
    for field, values in (("channels", record.channels), ("bodies", record.bodies or ())):
        for k, value in enumerate(values):
            if value in values[:k]:
                yield fault(
                    ["record", field, k],
                    "duplicate_name",
                    f"'{value}' stands twice in `{field}`.",
                    value,
                    "Keep one of them.",
                )
