"""docs/verification/trust.md: how often the verdict is right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.trust.case import LOOKS
from benchmarks.trust.held_out import SEED
from benchmarks.trust.measure import AGREED, CHOSEN, COARSE, FINE, HELD_OUT, OTHER, RIGHT, Result

PAGE = Path("docs/verification/trust.md")
STATUSES = ("trusted", "suspect", "wrong")

HEAD = f"""# How often the verdict is right

`make trust` writes this page. Each scene has a known answer: a closed form, an equation solved to
1e-10, or runs of the engine with a {COARSE}th and a {FINE}nd of the step (in the other formulation
where there are two) that agree to {100 * AGREED:g} %. A result is *right* if at {LOOKS} moments it
is off by at most {100 * RIGHT:g} % of its scale: amplitude, drop, way, size. The scenes held out
have parameters drawn from seed {SEED}: limits were chosen without them, then
those of orbits, mechanisms and tops once more (decision 0150). Scenes of other kinds were added
when all limits were chosen (decision 0370), some of them by somebody who had not seen the others
(decision 0420); what they showed was then mended by its causes, some once more (decision 0500),
lessons and robots too (decision 0620). Scenes near unstable equilibria came last (decision 0800).

A scene judges one motion, a verdict speaks of all. Where a result is right and not trusted, the
body that the verdict names is compared with runs with a {COARSE}th and a {FINE}nd of the step:
places of the ends of its axes, as a share of their way.
"""


def matrix(results: Sequence[Result]) -> list[str]:
    """The confusion matrix as a Markdown table."""
    lines = ["| result | " + " | ".join(STATUSES) + " | scenes |", "|---|" + "---|" * 4]
    for word, right in (("right", True), ("wrong", False)):
        kind = [one for one in results if one.right == right]
        counts = [sum(one.status == status for one in kind) for status in STATUSES]
        lines.append(f"| {word} | " + " | ".join(map(str, counts)) + f" | {len(kind)} |")
    return lines


def known(results: Sequence[Result]) -> list[Result]:
    """Results whose truth is known: a closed form, or references that agree."""
    return [one for one in results if not np.isnan(one.off)]


def row(one: Result) -> str:
    """One scene as a row."""
    words = ", ".join(one.found) or "-"
    off = "no number" if np.isinf(one.off) else f"{100 * one.off:.3g} %"
    return f"| {one.family} | {one.name} | {one.group} | {off} | {one.status} | {words} |"


def row_of_named(one: Result) -> str:
    """A scene that is right and not trusted as a row, with what it names."""
    body, off = one.named
    return f"{row(one)} {body or '-'} | {'-' if np.isnan(off) else f'{100 * off:.3g} %'} |"


def told(alarms: Sequence[Result]) -> str:
    """How many of the scenes that are right and not trusted name a motion that is wrong."""
    wrong = sum(one.named[1] > RIGHT for one in alarms)
    return f"{wrong} of these {len(alarms)} name a body or spring that is off by more than " + (
        f"{100 * RIGHT:g} %."
    )


def write_page(results: Sequence[Result]) -> None:
    """Write the page and print the matrices."""
    judged = known(results)
    lines = [HEAD]
    parts = (
        ("All scenes", judged),
        ("Scenes by which limits were chosen", [one for one in judged if one.group == CHOSEN]),
        ("Scenes held out", [one for one in judged if one.group == HELD_OUT]),
        ("Scenes of other kinds", [one for one in judged if one.group == OTHER]),
    )
    for title, some in parts:
        lines += [f"## {title}", "", *matrix(some), ""]
    print("\n".join(lines[1:]))
    columns = "| family | scene | set | off by | verdict | findings, in multiples of their limit |"
    head = [columns, "|---|---|---|---|---|---|"]
    false = [one for one in judged if not one.right and one.status == "trusted"]
    alarms = [one for one in judged if one.right and one.status != "trusted"]
    lines += ["## Wrong and trusted", ""]
    lines += [*head, *map(row, false), ""] if false else ["None.", ""]
    lines += ["## Right and not trusted", "", told(alarms), ""]
    lines += [f"{head[0]} named | off by |", f"{head[1]}---|---|", *map(row_of_named, alarms), ""]
    lines += ["## Every scene", "", *head, *map(row, judged), ""]
    print(told(alarms))
    unknown = [f"{one.family}: {one.name}" for one in results if np.isnan(one.off)]
    if unknown:
        lines += ["## Left out: no two references agree", "", *(f"- {one}" for one in unknown), ""]
    PAGE.write_text("\n".join(lines), encoding="utf-8")
    print(f"wrote {PAGE}")
