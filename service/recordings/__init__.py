"""Recordings as files: tables to Parquet, NPZ, CSV, JSON, a folder of all, and back."""
