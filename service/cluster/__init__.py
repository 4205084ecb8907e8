"""Runs on the nodes of a Ray cluster: who places them, and what is placed. The queue decides."""
