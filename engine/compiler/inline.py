"""`@inlined_kernel`, `@fused_kernel`: kernels that are always inlined into their callers.

LLVM vectorises a loop over lanes only without calls, and does not inline large functions with
several callers by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import F, fast_kernel
from cardan.engine.compiler.mode import INTERPRETED

if TYPE_CHECKING:

    def inlined_kernel(function: F) -> F:
        """Compile a function into its callers; its sums may be reordered."""
        ...

    def fused_kernel(function: F) -> F:
        """Compile a function into its callers; sums keep their order, products are fused."""
        ...

elif INTERPRETED:
    inlined_kernel = fused_kernel = fast_kernel
else:
    from cardan.engine.compiler.kernel import FAST, FastMathFlags, compiled

    FUSED = {"fastmath": FastMathFlags({"contract"})}

    def inlined_kernel(function):
        """Compile a function into its callers; its sums may be reordered."""
        return compiled(function, **FAST, forceinline=True)

    def fused_kernel(function):
        """Compile a function into its callers; sums keep their order, products are fused."""
        return compiled(function, **FUSED, forceinline=True)
