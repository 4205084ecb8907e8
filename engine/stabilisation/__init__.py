"""What becomes of position errors: joints, stops and contacts that are not where they should be."""
