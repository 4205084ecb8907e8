"""Schemas to arrays: the only room that reads the scene format."""
