"""Narrow phase: signed distance, normal and closest points of one pair of shapes."""
