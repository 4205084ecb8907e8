"""Bodies: mass properties, inertia in world axes, forces, and unconstrained velocities."""
