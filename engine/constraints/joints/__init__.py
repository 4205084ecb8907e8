"""Joints as sums of elementary constraints (parts), with their free motions."""
