"""gradcli: gradients of expression files, computed by autograd and checked against two independent references."""

__version__ = "0.1.0"
