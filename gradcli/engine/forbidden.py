"""Messages for views that may not be written to, nor follow what is written to their base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcli.engine.stale import short_name
from gradcli.errors import AutogradError

if TYPE_CHECKING:
    from gradcli.engine.tensor import Tensor

NO_GRAD_VIEW = "A view was created in no_grad mode and"
AMBIGUOUS = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the "
    "inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace "
    "to be tracked)."
)
ONE_OF_SEVERAL = (
    " This view is the output of a function that returns multiple views. Such functions do not allow the output views "
    "to be modified inplace. You should replace the inplace operation by an out-of-place one."
)
OF_FUNCTION = (
    " This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle "
    "view+inplace would override the custom backward associated with the custom Function, leading to incorrect gradients. "
    "This behavior is forbidden. You can fix this by cloning the output of the custom Function."
)


def outdated(view: Tensor) -> AutogradError:
    """The error for a view that may not be rebased and whose memory was written to since it was made."""
    assert view.shares is not None
    written = "its base or another view of its base has been modified inplace"
    if view.shares.kind == "no_grad":
        return AutogradError(f"{NO_GRAD_VIEW} {written} with grad mode enabled.{AMBIGUOUS}")
    reason = ONE_OF_SEVERAL if view.shares.kind == "multi" else OF_FUNCTION
    name = f"Output {view.output_nr} of {short_name(view.node)} is a view and" if view.node is not None else NO_GRAD_VIEW
    return AutogradError(f"{name} {written}.{reason}", hint="clone() the view before the memory is written to")
