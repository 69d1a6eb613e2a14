"""Independent derivatives: what autograd is held against."""

BUDGET = 60_000
"""Scalar operations that the symbolic reference may take unless told otherwise."""
