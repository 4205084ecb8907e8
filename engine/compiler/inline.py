"""`@inlined_kernel`: fast kernels that are written out wherever they are called.

A loop over lanes becomes vector instructions only if nothing in it is called. What is large and
called from two places is otherwise left a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import F, fast_kernel
from cardan.engine.compiler.mode import INTERPRETED

if TYPE_CHECKING:

    def inlined_kernel(function: F) -> F:
        """Compile a function into its callers; its sums may be reordered."""
        ...

elif INTERPRETED:
    inlined_kernel = fast_kernel
else:
    from cardan.engine.compiler.kernel import FAST, compiled

    def inlined_kernel(function):
        """Compile a function into its callers; its sums may be reordered."""
        return compiled(function, **FAST, forceinline=True)
