"""Broad phase: pairs of shapes whose bounds overlap."""
