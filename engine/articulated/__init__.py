"""Trees of bodies in joint coordinates: where they are, what moves them, and how easily."""
