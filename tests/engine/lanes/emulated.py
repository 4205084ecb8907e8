"""A card that is this processor: the same IR as on a GPU, world after world."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import binding as llvm
from numpy.typing import NDArray

from cardan.engine.compiler.gpu import entry_of, kernel_module
from cardan.engine.compiler.world_arrays import THIS_WORLD

WORLD = f"""
@world = global i64 0
define i64 @{THIS_WORLD}() {{
  %number = load i64, ptr @world
  ret i64 %number
}}
"""


class Emulated:
    """What rollouts need of `cardan.engine.compiler.cuda.Card`."""

    free = 1 << 24

    def __init__(self) -> None:
        """Nothing is taken yet."""
        self._taken: list[NDArray[Any]] = []
        self._engine: Any = None

    def load(self, kernel: Any, arguments: tuple[Any, ...], library: dict[str, Any]) -> Any:
        """Compile a kernel for this processor, which has a C library."""
        module, (symbol,) = kernel_module({kernel: arguments})
        entry = entry_of(symbol, arguments).replace("ptx_kernel ", "")
        for text in (WORLD, entry):
            module.link_in(llvm.parse_assembly(text))
        machine = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
        module.triple = llvm.get_process_triple()
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        addresses, double, whole = [ctypes.c_int64] * 3, ctypes.c_double, ctypes.c_int64
        kind = ctypes.CFUNCTYPE(None, *addresses, double, whole)
        return kind(self._engine.get_function_address("cardan_worlds"))

    def run(self, kernel: Any, threads: int, arguments: tuple[Any, ...]) -> None:
        """Run one world after another, and threads that have none."""
        number = ctypes.c_int64.from_address(self._engine.get_global_value_address("world"))
        for world in range(threads + 2):
            number.value = world
            kernel(*arguments)

    def room(self, size: int) -> int:
        """Address of so many bytes, of which no value is one of a start."""
        self._taken.append(np.full(-(-size // 8), np.nan))
        return int(self._taken[-1].ctypes.data)

    def put(self, array: NDArray[Any]) -> int:
        """Address of a copy."""
        self._taken.append(np.array(array, copy=True, order="C"))
        return int(self._taken[-1].ctypes.data)

    def get(self, array: NDArray[Any], address: int) -> None:
        """array <- what is at an address."""
        ctypes.memmove(array.ctypes.data, address, array.nbytes)

    def mark(self) -> int:
        """How many arrays there are."""
        return len(self._taken)

    def free_since(self, mark: int) -> None:
        """Forget those after a mark."""
        del self._taken[mark:]
