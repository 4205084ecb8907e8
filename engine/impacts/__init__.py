"""Impacts: instantaneous changes of velocity under a law of restitution."""
