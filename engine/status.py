"""Bits a step may set in its report, and the sentence each stands for."""

from __future__ import annotations

CONTACTS_FULL = 1
NOT_FINITE = 4
DENSE_FULL = 8
PAIRS_FULL = 16
EVENTS_FULL = 32
