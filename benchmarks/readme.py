"""The places of the README that a run fills in."""

from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def fill(place: str, text: str) -> None:
    """Replace what stands between the two marks of a place. Raises ValueError without them."""
    begin, end = f"<!-- {place}: begin", f"<!-- {place}: end -->"
    readme = README.read_text(encoding="utf-8")
    start, stop = readme.find(begin), readme.find(end)
    if start < 0 or stop < start:
        raise ValueError(f"the README has no place for {place!r}")
    head = readme.index("-->", start) + len("-->")
    README.write_text(f"{readme[:head]}\n\n{text.strip()}\n\n{readme[stop:]}", encoding="utf-8")


def row(cells: tuple[str, ...]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cell.strip().replace('|', '‖') for cell in cells)} |"
