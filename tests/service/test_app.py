import subprocess
import sys

from tests.service.real_server import ROOT


def test_the_process_of_the_api_holds_no_physics():
    physics = "{'numba', 'cardan.engine.simulation', 'scipy'}"
    code = f"import sys, cardan.service.app; print({physics} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert result.stdout.strip() == "set()"
