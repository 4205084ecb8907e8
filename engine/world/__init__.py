"""Data structures of the engine: every array with its shape, unit and frame.

Arrays over bodies have n_bodies + 1 elements. The last one is the world: a static body of zero
inverse mass at the origin, so that kernels need no special case for it.
"""
