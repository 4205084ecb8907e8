"""Which processor kernels are compiled for: a family of processors, so that they can be shipped.

Machine code for x86-64-v3 (AVX2 and FMA; Intel since 2013, AMD since 2015) runs on every processor
that has these features, and gives the same bits on all of them (decision 0140). Only functions that
compute with lanes of WIDE worlds use AVX-512 (decision 0930).
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import NamedTuple

import numba
from llvmlite import binding as llvm
from numba.core.codegen import JITCPUCodegen

FAMILY = "x86-64-v3"
FAMILY_FEATURES = [
    "64bit",
    "cmov",
    "cx8",
    "fxsr",
    "mmx",
    "sse",
    "sse2",
    "sse3",
    "ssse3",
    "sse4.1",
    "sse4.2",
    "popcnt",
    "cx16",
    "sahf",
    "avx",
    "avx2",
    "bmi",
    "bmi2",
    "f16c",
    "fma",
    "lzcnt",
    "movbe",
    "xsave",
]

# worlds in a register of AVX2, and of AVX-512
NARROW, WIDE = 4, 8
# of x86-64-v4
WIDE_FEATURES = ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]


class Processor(NamedTuple):
    """The processor that LLVM compiles for."""

    name: str
    features: str
    """As LLVM takes them: "+avx,-sse4a,..."."""

    @property
    def key(self) -> str:
        """Name of the folder with machine code for it (16 hex digits)."""
        options = (llvm.get_process_triple(), *self, numba.config.OPT, numba.config.USING_SVML)
        return hashlib.sha256(" ".join(map(str, options)).encode()).hexdigest()[:16]


def fits_family(features: dict[str, bool]) -> bool:
    """Whether a processor with these features runs machine code of the family."""
    return all(features.get(name, False) for name in FAMILY_FEATURES)


@cache
def target() -> Processor:
    """The family if this processor belongs to it, else this processor.

    NUMBA_CPU_NAME and NUMBA_CPU_FEATURES, set together, name another one.
    """
    features = llvm.get_host_cpu_features()
    if numba.config.CPU_NAME is not None or numba.config.CPU_FEATURES is not None:
        name, named = numba.config.CPU_NAME, numba.config.CPU_FEATURES
        return Processor(
            llvm.get_host_cpu_name() if name is None else name,
            features.flatten() if named is None else named,
        )
    if llvm.get_process_triple().startswith("x86_64") and fits_family(features):
        return Processor(FAMILY, ",".join(f"+{name}" for name in FAMILY_FEATURES))
    return Processor(llvm.get_host_cpu_name(), features.flatten())


@cache
def has_wide_registers() -> bool:
    """Whether registers hold 64 bytes, by the features that were named or those of this processor.

    They do in no other family than that of `FAMILY`.
    """
    if target().name != FAMILY:
        return False
    named = numba.config.CPU_FEATURES
    if named is None:
        features = llvm.get_host_cpu_features()
        return all(features.get(name, False) for name in WIDE_FEATURES)
    return all(f"+{name}" in named.split(",") for name in WIDE_FEATURES)


def wide_features() -> str:
    """Features of a function that may use registers of 64 bytes, as an attribute of LLVM."""
    features = [target().features, *(f"+{name}" for name in WIDE_FEATURES)]
    return f'"target-features"="{",".join(features)}"'


class Codegen(JITCPUCodegen):  # type: ignore[misc]
    """Numba's code generator for `target()`; that of other code in this process is left alone."""

    def _get_host_cpu_name(self) -> str:
        return target().name

    def _get_host_cpu_features(self) -> str:
        return target().features


@cache
def code_generator() -> Codegen:
    """The one of all kernels of this process."""
    return Codegen("cardan")
