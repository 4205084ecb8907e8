"""Runs of scenes: previewed, recorded, varied, verified, and chosen for an accuracy."""
