"""Values of variants, drawn from distributions: at random, as a Latin hypercube, or by Sobol.

Every method fills the unit cube with points u; a value is the quantile of its distribution at u.
The same seed gives the same values with the same versions of NumPy and SciPy.

Source: McKay, Beckman and Conover 1979 (Latin hypercube); Sobol 1967, scrambled after Owen 1998.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from cardan.schemas import SceneInvalid
from cardan.schemas.sampling import (
    Distribution,
    Integers,
    LogUniform,
    Normal,
    SamplingMethod,
    Uniform,
)
from cardan.schemas.translate import translate

Source = Uniform | LogUniform | Normal | Integers | Mapping[str, Any] | Sequence[Any]
MOST_DIMENSIONS = 1000
# quantiles of 0 and 1 are infinite
TINY, LEAST = 1e-300, 2.0**-53

_distribution: TypeAdapter[Any] = TypeAdapter(Distribution)


def sample(
    sources: Mapping[str, Source], n: int, method: SamplingMethod = "sobol", seed: int = 0
) -> list[dict[str, Any]]:
    """Draw n variants: for each JSON Pointer a value of its distribution or list.

    sources: by pointer a distribution (`cardan.schemas.sampling`, or the same as a mapping), or a
        list of values that are equally likely
    method: "random", "latin_hypercube" (each of n equal shares of every distribution is met once)
        or "sobol" (evenly spread; best where n is a power of two, and a longer sample begins with
        the shorter one)

    Returns overrides for `rollout`. Raises ValueError, for a distribution with every fault.
    """
    if n < 1 or not sources:
        raise ValueError(f"a sample needs sources and n >= 1; found {len(sources)} and n = {n}")
    cube = unit_cube(n, len(sources), method, seed)
    columns = [
        values_of(source if _is_list(source) else _distribution_of(source, pointer), u)
        for (pointer, source), u in zip(sources.items(), cube.T, strict=True)
    ]
    return [dict(zip(sources, row, strict=True)) for row in zip(*columns, strict=True)]


def _distribution_of(source: Any, pointer: str) -> Any:
    """A distribution, given or as a mapping. Raises ValueError."""
    try:
        return _distribution.validate_python(source)
    except ValidationError as error:
        faults = SceneInvalid(translate(error, Distribution, source))
        raise ValueError(f"the distribution of {pointer} has faults:\n{faults}") from None


def unit_cube(n: int, d: int, method: SamplingMethod, seed: int) -> NDArray[np.float64]:
    """(n, d): points in [0, 1). Raises ValueError."""
    if d > MOST_DIMENSIONS:
        raise ValueError(f"a sample has at most {MOST_DIMENSIONS} dimensions, not {d}")
    # it takes half a second to load, which workers that draw nothing need not spend
    from scipy.stats import qmc

    random = np.random.default_rng(seed)
    if method == "random":
        return random.random((n, d))
    if method == "latin_hypercube":
        return np.asarray(qmc.LatinHypercube(d, rng=random).random(n))
    if method == "sobol":
        power = max(0, math.ceil(math.log2(n)))
        return np.asarray(qmc.Sobol(d, rng=random).random_base2(power)[:n])
    raise ValueError(f"there is no method {method!r}: random, latin_hypercube or sobol")


def values_of(source: Any, u: NDArray[np.float64]) -> list[Any]:
    """Quantiles of a distribution, or elements of a list, at u (n,) in [0, 1)."""
    if isinstance(source, Uniform):
        return list((source.low * (1.0 - u) + source.high * u).tolist())
    if isinstance(source, LogUniform):
        exponent = math.log(source.low) * (1.0 - u) + math.log(source.high) * u
        return list(np.clip(np.exp(exponent), source.low, source.high).tolist())
    if isinstance(source, Normal):
        return _normal(source, u)
    if isinstance(source, Integers):
        count = source.high - source.low + 1
        return [source.low + min(int(share * count), count - 1) for share in u.tolist()]
    if not source:
        raise ValueError("a list to draw from needs at least one value")
    return [source[min(int(share * len(source)), len(source) - 1)] for share in u.tolist()]


def _normal(source: Normal, u: NDArray[np.float64]) -> list[float]:
    from scipy.special import ndtr, ndtri  # slow to load, and rarely needed

    low = -math.inf if source.low is None else (source.low - source.mean) / source.deviation
    high = math.inf if source.high is None else (source.high - source.mean) / source.deviation
    # the upper tail is the lower one mirrored, where quantiles keep their digits
    mirror = low > 0.0
    first, last = (ndtr(-high), ndtr(-low)) if mirror else (ndtr(low), ndtr(high))
    share = first + (last - first) * (1.0 - u if mirror else u)
    z = ndtri(np.clip(share, TINY, 1.0 - LEAST))
    values = source.mean + source.deviation * (-z if mirror else z)
    return list(
        np.clip(
            values,
            -math.inf if source.low is None else source.low,
            math.inf if source.high is None else source.high,
        ).tolist()
    )


def _is_list(source: Any) -> bool:
    return isinstance(source, Sequence | np.ndarray) and not isinstance(source, str | bytes)
