"""Ray casts and closest points between two steps."""
