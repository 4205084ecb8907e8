"""The example scenes that come with the package."""

from importlib.resources import files
from typing import Any

from cardan.schemas.parse import parse_json
from cardan.schemas.spelling import did_you_mean


def example_names() -> list[str]:
    """Return the names of the examples, sorted."""
    entries = (files("cardan.schemas") / "examples").iterdir()
    return sorted(
        entry.name.removesuffix(".json") for entry in entries if entry.name.endswith(".json")
    )


def example_text(name: str) -> bytes:
    """Return the JSON text of an example. Raises KeyError when there is none of that name."""
    if name not in example_names():
        close = did_you_mean(name, example_names())
        raise KeyError(" ".join(filter(None, [f"there is no example '{name}'.", close])))
    return (files("cardan.schemas") / "examples" / f"{name}.json").read_bytes()


def example_document(name: str) -> dict[str, Any]:
    """Return the document of an example. Raises KeyError when there is none of that name."""
    document = parse_json(example_text(name))
    if not isinstance(document, dict):
        raise TypeError(f"example {name} is not an object")
    return document
