"""Semismooth and proximal Newton methods."""
