"""Reads everything, decides nothing: energies, momenta, errors, and where the work went."""
