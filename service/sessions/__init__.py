"""Live sessions: one engine each, in a worker of its own, controlled over the network."""
