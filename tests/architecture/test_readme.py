"""What the README counts is counted here."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from cardan.schemas.complementarity import AnyProblem, ComplementarityMethod
from cardan.schemas.examples import example_names
from cardan.schemas.joint import Joint
from tests.architecture.sources import ROOT

WORDS = {
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "twenty-five": 25,
    "twenty-six": 26,
    "twenty-seven": 27,
    "twenty-eight": 28,
    "twenty-nine": 29,
    "thirty": 30,
}


def members(union: Any) -> int:
    """Of an annotated union of models."""
    return len(get_args(get_args(union)[0]))


COUNTED = {
    r"([\w-]+) kinds of joints": members(Joint),
    r"\| ([\w-]+) scenes, from": len(example_names()),
    # `cone` is one of two others, by its law
    r"problems of\s+([\w-]+) classes": members(AnyProblem) - 1,
    r"classes by ([\w-]+) methods": len(set(get_args(ComplementarityMethod)) - {"auto"}),
}


@pytest.mark.parametrize("words", COUNTED)
def test_numbers_of_the_readme_are_those_of_the_project(words: str) -> None:
    found = re.search(words, (ROOT / "README.md").read_text("utf-8"))
    assert found is not None
    assert WORDS[found[1]] == COUNTED[words]
