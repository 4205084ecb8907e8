"""Checked indexing: an index outside its axis is an IndexError, with the line that reads or writes.

Numba's own check lets indices from -n to -1 pass, as Python does. No kernel counts from the end of
an array on purpose, so a negative index is an error too. Slices are cut to their array, as in
Python. Addresses of struct members are constants of the type and need no check.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, config, debuginfo
from numba.core.ir import Loc
from numba.np import arrayobj

from cardan.engine.compiler.indices import as_it_is


class _Lines(debuginfo.DummyDIBuilder):  # type: ignore[misc]
    """Writes no debugging information, but notes which line is lowered."""

    def __init__(self, module: Any, filepath: str, **more: Any) -> None:
        """Of one source file."""
        super().__init__(module, filepath, **more)
        self._filepath = filepath

    def mark_location(self, builder: Any, line: int) -> None:
        """Note the line for the checks that the builder writes next."""
        builder.source_location = Loc(self._filepath, line)

    def mark_subprogram(self, function: Any, qualname: str, **more: Any) -> None:
        """Note the name of the kernel."""
        function.source_name = qualname


def _check(context: Any, builder: Any, index: Any, size: Any, axis: Any = None) -> None:
    """Return an IndexError from the function that is built, unless 0 <= index < size."""
    location = getattr(builder, "source_location", None)
    name = getattr(builder.function, "source_name", builder.function.name)
    message = f"{name}: index outside axis {axis}"
    # as an unsigned number a negative index is larger than any size
    with cgutils.if_unlikely(builder, builder.icmp_unsigned(">=", index, size)):
        context.call_conv.return_user_exc(builder, IndexError, (message,), location, name)


def install() -> None:
    """Make Numba, in this process, check every index of functions with the option `boundscheck`."""
    debuginfo.DummyDIBuilder = _Lines
    arrayobj.fix_integer_index = as_it_is
    cgutils.do_boundscheck = _check
    # speed is not what this is for
    config.OPT = config._OptLevel(1)
