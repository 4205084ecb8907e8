"""Bodies: mass, inertia in the world, forces, and where forces alone would lead."""
