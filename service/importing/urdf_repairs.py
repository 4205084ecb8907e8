"""Repair what URDF files get wrong and other readers overlook; each repair is noted."""

import math

from cardan.service.importing.notes import Notes
from cardan.service.importing.xml_text import Element

LISTS = ("xyz", "rpy", "size", "rgba", "scale")
"""Attributes that are several numbers."""
EQUAL = 1e-9
"""How far apart limits are written that are equal [m or rad]: the compiler would ignore them."""


def repair(root: Element, notes: Notes) -> None:
    """Mend numbers, axes, limits and relations of joints in place."""
    for element in root.iter():
        for name in LISTS:
            if "," in element.get(name, ""):
                element.set(name, element.get(name, "").replace(",", " "))
                notes.approximated(
                    "commas", "Numbers are separated by blanks; commas are taken as such."
                )
    joints = {joint.get("name") for joint in root.findall("joint")}
    for joint in root.findall("joint"):
        where = f"joint '{joint.get('name')}'"
        _repair_axis(joint, where, notes)
        _repair_limits(joint, where, notes)
        _repair_dynamics(joint, where, notes)
        mimic = joint.find("mimic")
        if mimic is not None and mimic.get("joint") == joint.get("name"):
            joint.remove(mimic)
            notes.dropped("mimics_itself", "A joint that mimics itself moves freely.", where)
        elif mimic is not None and mimic.get("joint") not in joints:
            joint.remove(mimic)
            why = f"It mimics joint '{mimic.get('joint')}', which does not exist: it moves freely."
            notes.dropped("mimics_nothing", why, where)


def _numbers(text: str) -> list[float] | None:
    """The numbers of an attribute; None: it is something else."""
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        return None


def _repair_axis(joint: Element, where: str, notes: Notes) -> None:
    """Give an axis without direction that of URDF's default, x."""
    axis = joint.find("axis")
    if axis is not None and _numbers(axis.get("xyz", "")) == [0.0, 0.0, 0.0]:
        axis.set("xyz", "1 0 0")
        notes.guessed("axis_missing", "An axis of length 0 is taken as x.", where)


def _repair_limits(joint: Element, where: str, notes: Notes) -> None:
    """Write 0 for one limit that is not given; remove limits that cannot be, and say so."""
    if joint.get("type") not in ("revolute", "prismatic"):
        return
    limit = joint.find("limit")
    given = [] if limit is None else [name for name in ("lower", "upper") if limit.get(name)]
    if limit is None or not given:
        notes.guessed(
            "limits_missing",
            "A joint between limits that gives neither `lower` nor `upper` has none.",
            where,
        )
        return
    if len(given) == 1:
        # the compiler would read neither
        limit.set("upper" if given == ["lower"] else "lower", "0")
        notes.guessed("limit_missing", "The one limit that is not given is 0, as URDF says.", where)
    found = [_numbers(limit.get(name, "")) for name in ("lower", "upper")]
    if not found[0] or not found[1]:
        # the compiler says what it cannot read
        return
    lower, upper = found[0][0], found[1][0]
    if math.isfinite(lower) and lower == upper != 0.0:
        limit.set("upper", repr(lower + EQUAL))
        notes.approximated("limits_equal", "A joint whose limits are equal is held there.", where)
        return
    if math.isfinite(lower) and math.isfinite(upper) and lower < upper:
        return
    for name in ("lower", "upper"):
        limit.attrib.pop(name, None)
    if lower == upper == 0.0:
        why = "Both limits are 0, as programs write that know none: the joint has none."
        notes.guessed("limits_zero", why, where)
    elif lower > upper:
        why = "A lower limit above the upper one: the joint has none."
        notes.dropped("limits_inverted", why, where)
    else:
        why = "A limit that is not finite: the joint has none."
        notes.approximated("limits_not_finite", why, where)


def _repair_dynamics(joint: Element, where: str, notes: Notes) -> None:
    """Set negative damping and friction to 0."""
    dynamics = joint.find("dynamics")
    if dynamics is None:
        return
    for name in ("damping", "friction"):
        value = _numbers(dynamics.get(name, "0"))
        if value and value[0] < 0.0:
            dynamics.set(name, "0")
            notes.approximated("negative_dynamics", f"Negative {name} is taken as 0.", where)
