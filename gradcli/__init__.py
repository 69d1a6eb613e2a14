"""gradcli: gradients of expression files, computed by autograd and checked against two independent references.

`import gradcli as gc` gives, each loaded when it is first named:

    gc.check("net.grad")               a file, or the text of one, checked; str() of the result is its table
    gc.check_gradient(f, df, x0)       a gradient written by hand for a function over numpy arrays
    gc.tensor, gc.grad, gc.sin, ...    the engine as a library, by PyTorch's names
    gc.testing.check(...)              either check as an assertion
"""

import sys
from types import ModuleType as _Module

__version__ = "0.1.0"


class _Function(_Module):
    """The package gradcli.check, which is the function of that name too."""

    def __call__(self, *args, **options):  # type: ignore[no-untyped-def]
        from gradcli.api.checking import check

        return check(*args, **options)


class _Package(_Module):
    def __setattr__(self, name: str, value: object) -> None:
        # Importing gradcli.check binds its name here, whoever does it first and why.
        if name == "check" and type(value) is _Module:
            value.__class__ = _Function
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name.startswith("_"):
        raise AttributeError(f"module 'gradcli' has no attribute {name!r}")
    from gradcli.api import find

    return find(name)


def __dir__() -> list[str]:
    from gradcli.api import names

    return sorted({*globals(), *names()})
