"""Contact manifolds: at most four points of a pair, matched from step to step."""
