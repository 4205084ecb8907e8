"""Soft constraints in substeps."""
