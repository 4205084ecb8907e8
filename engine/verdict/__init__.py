"""Whether the numbers of a run can be trusted: findings, their sentences, and the verdict."""

from cardan.engine.verdict.findings import (
    Names,
    Overlap,
    find_overlaps,
    findings,
    ignored_pairs,
    verdict,
)
from cardan.engine.verdict.parting import Parting, parted_ways, parting
from cardan.engine.verdict.sentences import sentence
from cardan.engine.verdict.verified import verdict_for, verdict_with

__all__ = [
    "Names",
    "Overlap",
    "Parting",
    "find_overlaps",
    "findings",
    "ignored_pairs",
    "parted_ways",
    "parting",
    "sentence",
    "verdict",
    "verdict_for",
    "verdict_with",
]
