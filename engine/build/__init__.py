"""Build the arrays of the engine from a scene: the only package that reads the scene format."""
