"""Interaction with a simulation between two steps: commands, queries, and states that are set."""
