"""Simulations and batches: a durable queue in a database, and the processes that empty it."""
