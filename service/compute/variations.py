"""The runs of a batch: a grid, a zip, a list or a sample of values at JSON Pointers."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cardan.schemas.api import BatchRequest, Variation
from cardan.service.intake import escaped

Overrides = Mapping[str, Any]
MOST_DRAWN = 1000
SAMPLED = frozenset({"random", "latin_hypercube", "sobol"})


class VariationError(ValueError):
    """The variations make no batch: `pointer` is the place in the request."""

    def __init__(self, pointer: str, message: str, got: str | int | None, hint: str) -> None:
        """Say where, what, and what to do."""
        super().__init__(message)
        self.pointer = pointer
        self.got = got
        self.hint = hint


def count_runs(ask: BatchRequest) -> int:
    """How many runs the batch has, without making them. Raises VariationError."""
    _check_shape(ask)
    if ask.mode == "list":
        return len(ask.runs)
    if ask.mode in SAMPLED:
        return ask.samples or 0
    sizes = [len(listed(variation)) for variation in ask.variation_list()]
    if ask.mode == "zip":
        return sizes[0]
    count = 1
    for size in sizes:
        count *= size
    return count


def parameters(ask: BatchRequest) -> list[str]:
    """The pointers that vary, in order."""
    if ask.mode == "list":
        return list(dict.fromkeys(itertools.chain.from_iterable(ask.runs)))
    return [variation.pointer for variation in ask.variation_list()]


def runs(ask: BatchRequest) -> Iterator[dict[str, Any]]:
    """The overrides of every run; in a grid the last variation changes fastest."""
    if ask.mode == "list":
        yield from (dict(run) for run in ask.runs)
        return
    variations = ask.variation_list()
    if ask.mode in SAMPLED:
        yield from _drawn(ask)
        return
    pointers = [variation.pointer for variation in variations]
    columns = [listed(variation) for variation in variations]
    rows = zip(*columns, strict=True) if ask.mode == "zip" else itertools.product(*columns)
    for values in rows:
        yield dict(zip(pointers, values, strict=True))


def samples(ask: BatchRequest, most: int) -> Iterator[tuple[int | None, Overrides]]:
    """Overrides that show every value at least once, with the number of the run where it is one.

    A grid is sampled along its axes from its first corner: faults of a single value appear, those
    of combinations appear in the runs. Zips and lists are taken as they are, up to `most` runs.
    """
    if ask.mode != "grid":
        yield from itertools.islice(enumerate(runs(ask)), most)
        return
    variations = ask.variation_list()
    first = {variation.pointer: listed(variation)[0] for variation in variations}
    yield 0, first
    others = (
        first | {variation.pointer: value}
        for variation in variations
        for value in listed(variation)[1:]
    )
    yield from ((None, overrides) for overrides in itertools.islice(others, most - 1))


def listed(variation: Variation) -> list[Any]:
    """Return the values of a variation that is no distribution."""
    assert isinstance(variation.values, list)
    return variation.values


def place_of_values(ask: BatchRequest, number: int) -> str:
    """Return where the values of a variation stand, in the form the request was written in."""
    if isinstance(ask.variations, dict):
        return f"/variations/{escaped(ask.variation_list()[number].pointer)}"
    return f"/variations/{number}/values"


def _drawn(ask: BatchRequest) -> list[dict[str, Any]]:
    # SciPy: only in the processes of the pool
    from cardan.engine.runs.sampling import sample

    sources = {variation.pointer: variation.values for variation in ask.variation_list()}
    assert ask.mode == "random" or ask.mode == "latin_hypercube" or ask.mode == "sobol"
    return sample(sources, ask.samples or 0, ask.mode, ask.seed)


def _check_shape(ask: BatchRequest) -> None:
    variations = ask.variation_list()
    if ask.mode == "list":
        _check_list(ask, len(variations))
        return
    if ask.runs:
        raise VariationError("/runs", "`runs` belongs to mode list.", len(ask.runs), "Set mode.")
    if not variations:
        raise VariationError(
            "/variations",
            "At least one variation is needed; found none.",
            0,
            "Name a pointer and its values.",
        )
    seen: set[str] = set()
    for number, variation in enumerate(variations):
        if variation.pointer in seen:
            raise VariationError(
                f"/variations/{number}/pointer",
                "This pointer varies twice.",
                variation.pointer,
                "Put all its values into one variation.",
            )
        seen.add(variation.pointer)
    if ask.mode in SAMPLED:
        if len(variations) > MOST_DRAWN:
            raise VariationError(
                "/variations",
                f"A sample has at most {MOST_DRAWN} variations.",
                len(variations),
                "Draw fewer values.",
            )
        if ask.samples is None:
            raise VariationError(
                "/samples", f"Mode {ask.mode} needs `samples`, the number of runs.", None, "Set it."
            )
        return
    _check_listed(ask, variations)
    if ask.mode == "zip":
        _check_equal_lengths(ask, variations)


def _check_listed(ask: BatchRequest, variations: Sequence[Variation]) -> None:
    if ask.samples is not None:
        raise VariationError(
            "/samples",
            f"Mode {ask.mode} takes every value; `samples` belongs to the sampled modes.",
            ask.samples,
            "Set mode random, latin_hypercube or sobol.",
        )
    for number, variation in enumerate(variations):
        if not isinstance(variation.values, list):
            raise VariationError(
                place_of_values(ask, number),
                f"Mode {ask.mode} needs a list of values; this is a distribution.",
                variation.values.type,
                "Set mode random, latin_hypercube or sobol, and `samples`.",
            )


def _check_list(ask: BatchRequest, variations: int) -> None:
    if variations:
        raise VariationError(
            "/variations", "Mode list has `runs`, no variations.", variations, "Set mode grid."
        )
    if not ask.runs:
        raise VariationError(
            "/runs", "Mode list needs `runs`, one object of overrides per run.", 0, "Add runs."
        )


def _check_equal_lengths(ask: BatchRequest, variations: Sequence[Variation]) -> None:
    sizes = [len(listed(variation)) for variation in variations]
    for number, size in enumerate(sizes):
        if size != sizes[0]:
            raise VariationError(
                place_of_values(ask, number),
                f"In mode zip all lists are equally long; this has {size}, the first {sizes[0]}.",
                size,
                "Make them equally long, or use mode grid.",
            )
