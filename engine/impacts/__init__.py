"""Impacts: velocities that jump in an instant, by a law of restitution."""
