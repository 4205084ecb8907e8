"""Kinematic trees in generalised coordinates: kinematics, dynamics algorithms, loops."""
