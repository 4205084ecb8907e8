"""Time integration: poses from velocities, rates of smooth motion, explicit and implicit
schemes."""
