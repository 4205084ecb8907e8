"""Formulas of the manual: LaTeX in Markdown, MathML in the site; no script is needed."""

import html
import re

from latex2mathml.converter import convert

# what the extension arithmatex leaves: \(...\) in a span, \[...\] in a div
FOUND = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
# bars of a norm or an absolute value that is not asked to grow
BAR = re.compile(r"<mo>(&#x02016;|&#x0007C;|\|)</mo>")


def with_formulas(page: str) -> str:
    """The HTML of a page with MathML for its formulas. Raises ValueError."""
    return FOUND.sub(_typeset, page)


def mathml(latex: str, is_block: bool = False) -> str:
    """A formula as MathML. Raises ValueError: a command that the converter does not know."""
    made = str(convert(latex, display="block" if is_block else "inline"))
    made = BAR.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', made)
    # unknown commands and column marks outside a table are passed on as names
    if "\\" in made or "<mi>&" in made.replace("<mi>&#", ""):
        raise ValueError(f"a formula of the manual cannot be typeset: {latex!r}")
    return made


def _typeset(found: re.Match[str]) -> str:
    latex = html.unescape(found["latex"]).strip()
    if found["tag"] == "span":
        return mathml(latex)
    return f'<div class="formula" tabindex="0" role="group">{mathml(latex, is_block=True)}</div>'
