"""What holds for every test: the machine's own configuration of the service stays outside."""

import os

from hypothesis import settings

from service.settings import PREFIX, Settings

CONFIGURATION = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
CONFIGURATION |= {"CARDAN_API_KEY", "CARDAN_API_KEY_FILE"}

for name in list(os.environ):
    if name in CONFIGURATION or name.startswith(f"{PREFIX}LIMIT_"):
        del os.environ[name]

# a busy machine is no failure: examples have no deadline
settings.register_profile("cardan", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("cardan")
