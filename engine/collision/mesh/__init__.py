"""Triangle meshes as one side of a pair."""
