"""Nouns: every array that exists, with its shape, unit, frame and who writes it.

Arrays over bodies have n_bodies + 1 elements. The last one is the world: it has no mass that
could move, sits at the origin and never turns, so that no kernel has to ask for it.
"""
