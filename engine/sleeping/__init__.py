"""Sleeping: islands at rest are excluded from the dynamics until they are disturbed."""
