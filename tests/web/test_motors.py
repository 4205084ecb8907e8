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


# a fork of a fork of the run above
RUNS = {
    "/v1/sessions/a": {"forked_from": None},
    "/v1/sessions/a/commands": {"items": LOG},
    "/v1/sessions/a/snapshots": {"items": [{"id": "s", "epoch": 0, "step": 22}]},
    "/v1/sessions/b": {"forked_from": {"session": "a", "epoch": 0, "step": 30, "time": 0.03}},
    "/v1/sessions/b/commands": {
        "items": [
            {"op": "set_motor", "epoch": 0, "step": 35, "joint": "a", "target": 6.0},
            {"op": "reset", "epoch": 1, "step": 0},
        ]
    },
    "/v1/sessions/b/snapshots": {"items": []},
}


def targets_before(node: str, epoch: int, step: int) -> dict[str, float]:
    return run_module(
        node,
        "targets.js",
        "targetsAt",
        "globalThis.fetch = async (url) => ({ ok: true, json: async () => input[0][url] });"
        "return Object.fromEntries(await targetsAt(input[1]));",
        [RUNS, {"session": "b", "epoch": epoch, "step": step, "time": 0.0}],
    )


def test_a_fork_begins_with_the_targets_of_its_moment(node: str) -> None:
    assert targets_before(node, 0, 32) == {"0 a": 3.0, "1 a": 2.0}
    assert targets_before(node, 0, 40) == {"0 a": 6.0, "1 a": 2.0}
    assert targets_before(node, 1, 0) == {}
