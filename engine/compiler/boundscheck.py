"""Checked indexing: an index outside its axis is an IndexError, with the line that reads or writes.

Numba's own check lets indices from -n to -1 pass, as Python does. No kernel counts from the end of
an array on purpose, so a negative index is an error too, and a negative bound of a slice. Slices
are cut to their array, as in Python. Addresses of struct members are constants and need no check.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, config, debuginfo
from numba.core.ir import Loc
from numba.cpython import slicing
from numba.np import arrayobj

from cardan.engine.compiler.indexing import index_as_it_is

_guard_step = slicing.guard_invalid_slice


class _Lines(debuginfo.DummyDIBuilder):  # type: ignore[misc]
    """Writes no debugging information, but notes which line is lowered."""

    def __init__(self, module: Any, filepath: str, **more: Any) -> None:
        """Begin the debug information of one source file."""
        super().__init__(module, filepath, **more)
        self._filepath = filepath

    def mark_location(self, builder: Any, line: int) -> None:
        """Note the line for the checks that the builder writes next."""
        builder.source_location = Loc(self._filepath, line)

    def mark_subprogram(self, function: Any, qualname: str, **more: Any) -> None:
        """Note the name of the kernel."""
        function.source_name = qualname


def _raise_if(builder: Any, wrong: Any, context: Any, what: str) -> None:
    """Return an IndexError from the function that is built, where a condition holds."""
    location = getattr(builder, "source_location", None)
    name = getattr(builder.function, "source_name", builder.function.name)
    with cgutils.if_unlikely(builder, wrong):
        context.call_conv.return_user_exc(builder, IndexError, (f"{name}: {what}",), location, name)


def _check(context: Any, builder: Any, index: Any, size: Any, axis: Any = None) -> None:
    """An IndexError unless 0 <= index < size."""
    # as an unsigned number a negative index is larger than any size
    outside = builder.icmp_unsigned(">=", index, size)
    _raise_if(builder, outside, context, f"index outside axis {axis}")


def _check_bounds(context: Any, builder: Any, slice_type: Any, bounds: Any) -> None:
    """An IndexError unless the bounds of a slice without step are 0 or more."""
    if slice_type.has_step:
        _guard_step(context, builder, slice_type, bounds)
        return
    for bound in (bounds.start, bounds.stop):
        negative = builder.icmp_signed("<", bound, bound.type(0))
        _raise_if(builder, negative, context, "slice with a negative bound")


def install() -> None:
    """Make Numba, in this process, check every index of functions with the option `boundscheck`."""
    debuginfo.DummyDIBuilder = _Lines
    arrayobj.fix_integer_index = index_as_it_is
    slicing.guard_invalid_slice = _check_bounds
    cgutils.do_boundscheck = _check
    # speed is not what this is for
    config.OPT = config._OptLevel(1)
