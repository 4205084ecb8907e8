"""Formulas are typeset, and the theory names code and sources that are there."""

import ast
import hashlib
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs.manual.formulas import mathml, with_formulas
from tests.architecture.sources import ROOT

THEORY = ROOT / "docs" / "manual" / "theory.md"
FONTS = ROOT / "docs" / "manual" / "fonts"
CODE_LINK = re.compile(r"\[`(\w+)`\]\((\.\./\.\./[\w/]+\.py)\)")
TEXTS = (
    "Constraint Notes n.d.", "Featherstone 2022", "Lee 2011", "Dynamics Notes n.d.",
    "Articulated Notes n.d.",
)  # fmt: skip


def names_in(path: Path) -> set[str]:
    """What a module defines at its top."""
    nodes = ast.parse(path.read_text("utf-8")).body
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def sections() -> dict[str, str]:
    """Text of every section of the theory by its heading."""
    _, *found = re.split(r"^## (.+)$", THEORY.read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(found[::2], found[1::2], strict=True))


def test_every_function_the_theory_names_is_where_it_says() -> None:
    links = CODE_LINK.findall(THEORY.read_text("utf-8"))
    assert len(links) > 80
    missing = [(name, path) for name, path in links if name not in names_in(THEORY.parent / path)]
    assert missing == []


def test_every_section_with_a_formula_names_code_that_computes_it() -> None:
    without = [
        name
        for name, text in sections().items()
        if "$$" in text and not CODE_LINK.search(text) and "](../../tests/" not in text
    ]
    assert without == []


@pytest.mark.parametrize("text", TEXTS)
def test_the_sections_of_a_text_name_it(text: str) -> None:
    row = re.search(rf"^\| \*{re.escape(text)}\* \| (.+) \|$", THEORY.read_text("utf-8"), re.M)
    assert row is not None
    listed = set(re.findall(r"\[([^\]]+)\]\(#", row[1]))
    naming = {name for name, of_it in sections().items() if f"*{text}*" in of_it}
    assert listed == naming - {"Differences from the texts"}


def test_all_formulas_of_the_site_are_mathml(site: Path) -> None:
    pages = [path.read_text("utf-8") for path in site.glob("*.html")]
    made = [found for page in pages for found in re.findall(r"<math.*?</math>", page, re.DOTALL)]
    assert len(made) > 150
    for formula in made:
        ElementTree.fromstring(formula)
    assert not any("arithmatex" in page for page in pages)


@pytest.mark.parametrize("latex", [r"\bogus x", r"a &= b", r"\begin{aligned} a &= b \end{aligned}"])
def test_what_the_converter_does_not_know_is_no_formula(latex: str) -> None:
    with pytest.raises(ValueError, match="cannot be typeset"):
        mathml(latex)


def test_formulas_of_a_page_are_replaced_and_nothing_else() -> None:
    page = r'<p>costs $5 <span class="arithmatex">\(a &lt; b\)</span></p>'
    assert with_formulas(page).startswith("<p>costs $5 <math ")
    assert "&#x0003C;" in with_formulas(page)


def test_the_font_is_the_one_its_record_names() -> None:
    record = json.loads((FONTS / "VENDOR.json").read_text("utf-8"))
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FONTS.glob("*.woff2")
    }
    assert found == record["files"]
    assert "SIL Open Font License" in (FONTS / "LICENSE.txt").read_text("utf-8")
