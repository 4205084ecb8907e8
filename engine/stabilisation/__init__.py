"""Correction of position errors of joints, stops and contacts after a step."""
