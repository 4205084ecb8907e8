"""Worlds side by side: many worlds of one model in the lanes of SIMD registers."""
