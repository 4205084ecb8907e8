"""Places of documents that a run fills in."""

from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def fill(page: Path, place: str, text: str) -> None:
    """Replace the text between the two marks of a place. Raises ValueError without them."""
    begin, end = f"<!-- {place}: begin", f"<!-- {place}: end -->"
    before = page.read_text(encoding="utf-8")
    start, stop = before.find(begin), before.find(end)
    if start < 0 or stop < start:
        raise ValueError(f"{page.name} has no place for {place!r}")
    head = before.index("-->", start) + len("-->")
    page.write_text(f"{before[:head]}\n\n{text.strip()}\n\n{before[stop:]}", encoding="utf-8")


def row(cells: tuple[str, ...]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cell.strip().replace('|', '‖') for cell in cells)} |"
