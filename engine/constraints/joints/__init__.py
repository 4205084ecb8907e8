"""Joints as sums of parts; each states its free motions."""
