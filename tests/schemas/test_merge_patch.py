"""JSON Merge Patch: the examples of RFC 7396, appendix A, and what they leave open."""

import copy

import pytest

from cardan.schemas.merge_patch import merge_patch


@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_examples_of_the_standard(target, patch, merged):
    before = copy.deepcopy((target, patch))
    assert merge_patch(target, patch) == merged
    assert (target, patch) == before


def test_members_keep_their_order_and_new_ones_follow():
    merged = merge_patch({"b": 1, "a": {"y": 1, "x": 2}}, {"d": 1, "a": {"x": 3, "z": 4}, "c": 2})
    assert list(merged) == ["b", "a", "d", "c"]
    assert list(merged["a"]) == ["y", "x", "z"]


def test_depth_is_no_limit():
    patch: object = 1
    for _ in range(100_000):
        patch = {"a": patch}
    found = merge_patch({}, patch)
    depth = 0
    while isinstance(found, dict):
        found, depth = found["a"], depth + 1
    assert (found, depth) == (1, 100_000)
