"""Motor targets as a log of commands leaves them."""

from typing import Any

from tests.web.modules import run_module

LOG = [
    {"op": "set_motor", "epoch": 0, "step": 10, "joint": "a", "target": 1.0},
    {"op": "set_motor", "epoch": 0, "step": 20, "joint": "a", "axis": 1, "target": 2.0},
    {"op": "pause", "epoch": 0, "step": 25},
    {"op": "set_motor", "epoch": 0, "step": 30, "joint": "a", "target": 3.0},
    {"op": "reset", "epoch": 1, "step": 0},
    {"op": "set_motor", "epoch": 1, "step": 5, "joint": "b", "target": 4.0},
    {"op": "restore", "epoch": 2, "step": 22, "snapshot": "s"},
    {"op": "set_motor", "epoch": 2, "step": 40, "joint": "b", "target": 5.0},
]


def targets(node: str, epoch: int, log: Any = LOG) -> dict[str, float]:
    return run_module(
        node,
        "targets.js",
        "targetsOf",
        "return Object.fromEntries(targetsOf(input[0], input[1], input[2]));",
        [log, [{"id": "s", "epoch": 0, "step": 22}], epoch],
    )


def test_the_last_command_of_the_epoch_counts(node: str) -> None:
    assert targets(node, 0) == {"0 a": 3.0, "1 a": 2.0}


def test_a_reset_forgets_what_was_commanded(node: str) -> None:
    assert targets(node, 1) == {"0 b": 4.0}


def test_a_snapshot_brings_the_targets_of_its_moment(node: str) -> None:
    assert targets(node, 2) == {"0 a": 1.0, "1 a": 2.0, "0 b": 5.0}
