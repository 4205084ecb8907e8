"""Options that fit together."""

import math
from collections.abc import Iterator

from cardan.schemas.checks.parts import Parts, fault
from cardan.schemas.error import Fault
from cardan.schemas.options import SimulationOptions
from cardan.schemas.record import Record

REDUCED_ONLY = ("dop853", "radau")


def option_faults(parts: Parts) -> Iterator[Fault]:
    """Yield what is wrong with the options of the run, the record and the material pairs."""
    if parts.simulation is not None:
        yield from _simulation_faults(parts.simulation)
        yield from _accuracy_faults(parts.simulation)
    if parts.record is not None:
        yield from _record_faults(parts)
    yield from _stiction_faults(parts)
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


def _stiction_faults(parts: Parts) -> Iterator[Fault]:
    """Yield static coefficients below the kinetic ones."""
    for name, material in parts.materials.items():
        yield from _below(["materials", name], material.static_friction, material.friction)
    for i, pair in parts.pairs.items():
        kinetic = pair.friction
        if kinetic is None:
            known = [parts.materials[name] for name in pair.materials if name in parts.materials]
            kinetic = math.sqrt(math.prod(material.friction for material in known))
        yield from _below(["material_pairs", i], pair.static_friction, kinetic)


def _below(path: list[str | int], static: float | None, kinetic: float) -> Iterator[Fault]:
    if static is not None and static < kinetic:
        yield fault(
            [*path, "static_friction"],
            "out_of_range",
            f"The static coefficient {static:g} is below the kinetic `friction` {kinetic:g}.",
            static,
            f"Give {kinetic:g} or more.",
        )


def _simulation_faults(options: SimulationOptions) -> Iterator[Fault]:
    if options.dt > options.duration:
        yield fault(
            ["simulation", "dt"],
            "out_of_range",
            f"`dt` {options.dt:g} s is longer than the `duration` {options.duration:g} s.",
            options.dt,
            "Shorten the time step.",
        )
    if options.integrator in REDUCED_ONLY and options.formulation == "maximal":
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
    # a scene that was written with its defaults has the default of `every` beside its rate
    if record.rate is not None and record.every != Record.model_fields["every"].default:
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
