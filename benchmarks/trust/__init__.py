"""Scenes with a known truth, at sensible and careless steps: is the verdict on each run right?"""
