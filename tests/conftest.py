"""What holds for every test: the machine's own configuration of Cardan stays outside."""

import os

from hypothesis import settings

KEPT = {
    "CARDAN_KERNEL_CACHE",
    "CARDAN_CHROMIUM",
    "CARDAN_KEEP_SCREENSHOT",
    "CARDAN_REFERENCE_DATA",
}

for name in [name for name in os.environ if name.startswith("CARDAN_") and name not in KEPT]:
    del os.environ[name]

# a busy machine is no failure: examples have no deadline
settings.register_profile("cardan", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("cardan")
