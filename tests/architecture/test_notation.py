"""NOTATION.md lists every array of the engine, as it is declared."""

from tests.architecture.notation import PLACE, notation


def test_notation_is_what_the_world_declares() -> None:
    assert PLACE.read_text(encoding="utf-8") == notation()
