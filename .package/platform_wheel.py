"""Build hook: a wheel that carries compiled kernels is for one interpreter and one platform.

CARDAN_SHIPPED_KERNELS names the folder of the kernels (`make wheel` sets it); without it the wheel
is for every platform, and kernels are compiled where it is installed.
"""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    """Adds the kernels to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before the files of a wheel are collected; an editable install carries none."""
        kernels = os.environ.get("CARDAN_SHIPPED_KERNELS")
        if kernels and version != "editable":
            build_data["force_include"][kernels] = "cardan/kernels"
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
