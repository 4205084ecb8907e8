"""Time integration: poses, kick, rates of smooth motion, explicit and implicit schemes."""
