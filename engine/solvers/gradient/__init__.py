"""Gradient and conjugate-gradient methods: NNCG, APGD, subspace minimisation."""
