import numpy as np
import pytest

from cardan.service.recordings.tables import Tables, from_columns, recording_metadata

FRAMES, BODIES = 5, ("floor", "ball, with a comma")


@pytest.fixture
def recording():
    """Five frames of two bodies, numbers that only float64 holds, and an empty table."""
    time = np.repeat(np.arange(FRAMES) * 0.1, len(BODIES))
    step = np.repeat(np.arange(FRAMES) * 10, len(BODIES))
    rng = np.random.default_rng(1)
    bodies = {"time": time, "step": step, "body": np.array(BODIES * FRAMES)}
    for name in ["px", "py", "pz", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"]:
        bodies[name] = rng.normal(size=len(time))
    energy = {"time": np.arange(FRAMES) * 0.1, "step": np.arange(FRAMES) * 10}
    energy["total"] = np.full(FRAMES, 1.0 / 3.0)
    contacts = {"time": np.zeros(0), "step": np.zeros(0, dtype=np.int64)}
    contacts["body_a"] = np.zeros(0, dtype=np.str_)
    contacts["gap"] = np.zeros(0)
    metadata = recording_metadata(
        scene_hash="abc", name="two", seed=7, dt=0.01, versions={"engine": "1"}
    )
    made = from_columns({"bodies": bodies, "energy": energy, "contacts": contacts}, metadata)
    return Tables(
        made.tables,
        made.metadata,
        {"bodies": [{"name": name} for name in BODIES]},
        {"status": "succeeded"},
    )
