"""The notebooks run from top to bottom; they are stored as they are before the first run."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path("docs/notebooks")
BOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_every_notebook_is_found() -> None:
    assert [path.stem for path in BOOKS] == ["constraint_forces", "first_steps", "parameter_study"]


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    book = nbformat.read(path, 4)
    nbformat.validate(book)
    for cell in book.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@pytest.mark.e2e
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own assertions hold."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    book = nbformat.read(path, 4)
    NotebookClient(book, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    shown = [cell for cell in book.cells if cell.cell_type == "code" and cell.execution_count]
    assert len(shown) > 4
