"""Checking many files: worker processes under a supervisor, a cache, expectations."""
