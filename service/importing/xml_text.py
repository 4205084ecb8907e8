"""Parse untrusted XML without document types, hence without entities; edit its tree."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator

from cardan.service.importing.refusal import ImportRefusedError

Element = ET.Element
# prefixes of elements and of attributes; declarations; the name of the first element
PREFIXED = re.compile(r"(?:</?|\s)([A-Za-z_][\w.-]*):[A-Za-z_][\w.-]*(?=[\s=/>])")
DECLARED = re.compile(r"\sxmlns:([A-Za-z_][\w.-]*)\s*=")
# past comments and processing instructions, which may hold the beginnings of elements
ROOT = re.compile(r"(?:[^<]++|<!--.*?-->|<\?.*?\?>)*+<[A-Za-z_][\w.:-]*", re.DOTALL)
MAX_DEPTH = 499
"""Elements within each other that MuJoCo's reader takes."""


def parse_xml(text: str, name: str) -> Element:
    """The root element. Raises ImportRefusedError."""
    if not text.strip():
        raise ImportRefusedError("not_xml", f"'{name}' is empty.")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ImportRefusedError(
            "document_type", f"'{name}' has a document type (DOCTYPE); models have none."
        )
    try:
        # entities cannot be declared without a document type, and expat reads no files
        root = ET.fromstring(_with_prefixes(text))
    except (ET.ParseError, ValueError) as error:
        raise ImportRefusedError("not_xml", f"'{name}' is not XML: {error}.") from error
    _refuse_deeper(root)
    return root


def _refuse_deeper(root: Element) -> None:
    """Count level by level, since recursion has a limit of its own."""
    level = [root]
    for _ in range(MAX_DEPTH):
        level = [child for element in level for child in element]
    if level:
        raise ImportRefusedError(
            "too_deep",
            f"The model has more than {MAX_DEPTH} elements within each other.",
        )


def _with_prefixes(text: str) -> str:
    """Declare prefixes that are used and not declared, as `drake:` often is."""
    used = set(PREFIXED.findall(text)) - set(DECLARED.findall(text)) - {"xml", "xmlns"}
    root = ROOT.match(text)
    if not used or root is None:
        return text
    said = "".join(f' xmlns:{prefix}="undeclared:{prefix}"' for prefix in sorted(used))
    return text[: root.end()] + said + text[root.end() :]


def text_of(root: Element) -> str:
    """The tree as text. Raises ImportRefusedError: with what it includes it may be too deep."""
    _refuse_deeper(root)
    return ET.tostring(root, encoding="unicode")


def with_parents(root: Element) -> Iterator[tuple[Element, Element]]:
    """Every element below the root with its parent; the tree may be changed meanwhile."""
    pairs = [(parent, child) for parent in root.iter() for child in parent]
    yield from pairs


def remove(root: Element, unwanted: Callable[[Element], bool]) -> int:
    """Take elements out of the tree; their number."""
    found = [(parent, child) for parent, child in with_parents(root) if unwanted(child)]
    for parent, child in found:
        parent.remove(child)
    return len(found)
