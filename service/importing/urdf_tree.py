"""Whether the links and joints of a URDF make a tree; what does not is refused by its name."""

import math
from collections import Counter

from cardan.schemas.error import printable, shown
from cardan.schemas.spelling import did_you_mean, listed
from cardan.service.importing.refusal import ImportRefusedError
from cardan.service.importing.xml_text import Element


def check_tree(root: Element, file: str) -> None:
    """Refuse names that stand twice, links that do not exist, and masses that are no numbers.

    `file` names the file. Raises ImportRefusedError with the first fault.
    """
    links = root.findall("link")
    # a fixed joint becomes no joint: its name does not matter
    moving = [joint for joint in root.findall("joint") if joint.get("type") != "fixed"]
    for tag, elements in (("link", links), ("joint", moving)):
        names = Counter(one.get("name", "") for one in elements)
        for name, count in names.items():
            if count > 1 and name:
                raise ImportRefusedError(
                    "duplicate_name",
                    f"'{file}' has {count} {tag}s of the name '{_said(name)}'; "
                    f"names of {tag}s are unique.",
                    "Rename one of them.",
                )
    _check_ends(root, file, [link.get("name", "") for link in links])
    for link in links:
        _check_mass(link, file)


def _check_ends(root: Element, file: str, links: list[str]) -> None:
    """Every joint has a parent and a child that are links; no link is the child of two."""
    carried: dict[str, str] = {}
    known = set(links)
    for joint in root.findall("joint"):
        where = f"joint '{_said(joint.get('name', ''))}' of '{file}'"
        for end in ("parent", "child"):
            element = joint.find(end)
            name = None if element is None else element.get("link")
            if name is None:
                message = f"The {where} has no <{end} link=...>; every joint has one."
                raise ImportRefusedError("link_missing", message)
            if name not in known:
                raise ImportRefusedError(
                    "unknown_link",
                    f"The {end} of {where} is link '{_said(name)}', which the file does not have; "
                    f"it has {listed([_said(link) for link in links])}.",
                    did_you_mean(name, links),
                )
            if end == "child":
                if name in carried:
                    raise ImportRefusedError(
                        "two_parents",
                        f"The {where} has link '{_said(name)}' as its child, as joint "
                        f"'{_said(carried[name])}' has; a link of a URDF has one joint to a "
                        "parent.",
                    )
                carried[name] = joint.get("name", "")


def _check_mass(link: Element, file: str) -> None:
    mass = link.find("inertial/mass")
    value = None if mass is None else mass.get("value")
    if value is None:
        return
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ImportRefusedError(
            "not_finite",
            f"The mass of link '{_said(link.get('name', ''))}' of '{file}' is '{shown(value)}'; "
            "a finite number [kg] is needed.",
        )


def _said(name: str) -> str:
    return printable(str(shown(name)))
