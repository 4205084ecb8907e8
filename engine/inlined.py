"""`@inlined_kernel`: fast kernels that are written out wherever they are called.

A loop over lanes becomes vector instructions only if nothing in it is called. What is large and
called from two places is otherwise left a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from engine.kernel import F, fast_kernel

if TYPE_CHECKING:

    def inlined_kernel(function: F) -> F:
        """Compile a function into its callers; its sums may be reordered."""
        ...

elif numba.config.DISABLE_JIT:
    inlined_kernel = fast_kernel
else:
    from engine.kernel import FAST
    from engine.linking import Kernel

    def inlined_kernel(function):
        """Compile a function into its callers; its sums may be reordered."""
        return Kernel(function, FAST | {"forceinline": True})
