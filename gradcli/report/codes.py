"""The codes of the verdicts, as reports show them and `gradcli explain` tells of them."""

from __future__ import annotations

CODES = {"fail": "G001", "kink": "G002", "nan": "G003", "unstable": "G004", "unchecked": "G005"}
EXPECTATION = "G006"
"""Of an assertion or an expectation that does not hold."""
