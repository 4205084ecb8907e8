"""Outputs of a simulation: samples of frames, sensors, tables, summaries and snapshots."""
