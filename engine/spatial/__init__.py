"""Vectors, quaternions and spatial algebra on tuples of floats, without memory allocation."""
