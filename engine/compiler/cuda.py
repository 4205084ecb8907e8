"""The card: its memory, and kernels that are run on it (the driver's API, by NVIDIA's bindings)."""

from __future__ import annotations

import ctypes
from typing import Any

from numpy.typing import NDArray

THREADS = 64  # of a block


class NoDeviceError(RuntimeError):
    """There is no card to run on; the message says what is missing."""


def driver() -> Any:
    """NVIDIA's bindings of the driver. Raises NoDeviceError, which says what is missing."""
    try:
        from cuda.bindings import driver as found
    except ImportError as error:
        raise NoDeviceError(
            "device='gpu' needs the package cuda-bindings, which is missing: "
            "pip install 'cardan[gpu]'"
        ) from error
    return found


class Card:
    """One card, in the primary context of this process."""

    def __init__(self, number: int = 0):
        """Open it. Raises NoDeviceError where there is no driver or no card."""
        self._driver = driver()
        try:
            self._call("cuInit", 0)
        except RuntimeError as error:
            raise NoDeviceError(
                f"device='gpu' needs a driver of NVIDIA with a card: {error}"
            ) from error
        if self._call("cuDeviceGetCount") <= number:
            raise NoDeviceError(f"device='gpu' needs a card of NVIDIA; there is no number {number}")
        device = self._call("cuDeviceGet", number)
        self.name = self._call("cuDeviceGetName", 128, device).split(b"\0")[0].decode()
        self._taken: list[int] = []
        self._call("cuCtxSetCurrent", self._call("cuDevicePrimaryCtxRetain", device))

    def _call(self, name: str, *arguments: Any) -> Any:
        """Call the driver. Raises NoDeviceError with its own words."""
        error, *found = getattr(self._driver, name)(*arguments)
        if int(error) != 0:
            _, text = self._driver.cuGetErrorString(error)
            told = text.decode() if text else str(error)
            raise NoDeviceError(f"{name}: {told}")
        return found[0] if found else None

    @property
    def free(self) -> int:
        """Free memory [bytes]."""
        error, free, _ = self._driver.cuMemGetInfo()
        return int(free) if int(error) == 0 else 0

    def load(self, kernel: Any, arguments: tuple[Any, ...], library: dict[str, Any]) -> Any:
        """A kernel for arguments of these types of Numba, and the functions of the C library.

        LLVM compiles it once for these sources, the driver translates that once for this card.
        """
        # modes without lanes have none of it
        from cardan.engine.compiler.gpu import ENTRY, ptx_of

        module = self._call("cuModuleLoadData", ptx_of(kernel, arguments, library).encode() + b"\0")
        return self._call("cuModuleGetFunction", module, ENTRY.encode())

    def room(self, size: int) -> int:
        """Address of so many bytes on the card."""
        self._taken.append(int(self._call("cuMemAlloc", max(size, 8))))
        return self._taken[-1]

    def put(self, array: NDArray[Any]) -> int:
        """Address of a copy of an array on the card."""
        address = self.room(array.nbytes)
        if array.nbytes:
            self._call("cuMemcpyHtoD", address, array.ctypes.data, array.nbytes)
        return address

    def get(self, array: NDArray[Any], address: int) -> None:
        """array <- what is at an address of the card."""
        if array.nbytes:
            self._call("cuMemcpyDtoH", array.ctypes.data, address, array.nbytes)

    def mark(self) -> int:
        """How many pieces of memory are in use."""
        return len(self._taken)

    def free_since(self, mark: int) -> None:
        """Give back what was taken after a mark."""
        while len(self._taken) > mark:
            self._call("cuMemFree", self._taken.pop())

    def run(self, kernel: Any, threads: int, arguments: tuple[Any, ...]) -> None:
        """Run it in so many threads, and wait; arguments are addresses, floats and ints."""
        kinds = tuple(
            ctypes.c_double if isinstance(a, float) else ctypes.c_int64 for a in arguments
        )
        blocks = -(-threads // THREADS)
        self._call(
            "cuLaunchKernel", kernel, blocks, 1, 1, THREADS, 1, 1, 0, 0, (arguments, kinds), 0
        )
        self._call("cuCtxSynchronize")
