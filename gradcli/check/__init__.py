"""The check: a program's gradients against independent references."""

from gradcli.check.file import check_file
from gradcli.check.options import CheckOptions

__all__ = ["CheckOptions", "check_file"]
