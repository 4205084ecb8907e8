"""`@inlined_kernel`, `@fused_kernel`: kernels always inlined into callers; `@shared_kernel`: never.

LLVM vectorises a loop over lanes only without calls, and does not inline large functions with
several callers by itself. Where sums may be reordered, a copy in another caller may round
otherwise: what several threads call stands once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import F, fast_kernel
from cardan.engine.compiler.mode import COMPILER, INTERPRETED, PLAIN

if TYPE_CHECKING:

    def inlined_kernel(function: F) -> F:
        """Compile a function into its callers; its sums may be reordered."""
        ...

    def fused_kernel(function: F) -> F:
        """Compile a function into its callers; sums keep their order, products are fused."""
        ...

    def shared_kernel(function: F) -> F:
        """Compile a function once: the same instructions whoever calls it."""
        ...

elif INTERPRETED:
    inlined_kernel = fused_kernel = shared_kernel = fast_kernel
else:
    from cardan.engine.compiler.kernel import FAST, FastMathFlags, compiled

    FUSED = {"fastmath": FastMathFlags({"contract"})}

    def inlined_kernel(function):
        """Compile a function into its callers; its sums may be reordered."""
        return compiled(function, **FAST, forceinline=True)

    def fused_kernel(function):
        """Compile a function into its callers; sums keep their order, products are fused."""
        return compiled(function, **FUSED, forceinline=True)

    def shared_kernel(function):
        """Compile a function once: the same instructions whoever calls it."""
        if COMPILER == PLAIN:
            return compiled(function)
        from cardan.engine.compiler.linker import keep_apart

        return keep_apart(compiled(function))
