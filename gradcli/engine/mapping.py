"""torch.vmap: a function over one more axis of its arguments, element by element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor
from gradcli.engine.trees import leaves_of, rebuilt, same_for_all
from gradcli.errors import AutogradError, DataError
from gradcli.ops.catalogue import FUNCTIONS

RANDOMNESS = ("error", "different", "same")


class Refusal:
    """Stands for the random numbers where a mapped function must not draw any."""

    def __getattr__(self, name: str) -> Any:
        raise AutogradError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags "
            "on vmap or perform the randomness operation out of vmap"
        )


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: Any = None) -> Any:
    """The function over a further axis of its arguments; the axes are given for the tensors in lists, tuples and dicts too."""
    if randomness not in RANDOMNESS:
        raise AutogradError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    name = getattr(func, "__name__", repr(func))

    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, axes = moving(args, in_dims, name)
        size = common_size(leaves, axes)
        results = []
        with draws(randomness) as begin:
            for k in range(size):
                begin()
                given = rebuilt(args, [v if d is None else v.select(d, k) for v, d in zip(leaves, axes, strict=True)])
                results.append(func(*given, **kwargs))
        return joined(results, out_dims, name)

    mapped.__name__ = name
    return mapped


def moving(args: tuple[Any, ...], in_dims: Any, name: str) -> tuple[list[Any], list[int | None]]:
    """What the arguments are made of, and the axis of each that moves."""
    place = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise DataError(
            f"{place}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise DataError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no "
            "inputs. The latter is unsupported."
        )
    leaves, axes = leaves_of(args), same_for_all(in_dims, args)
    if axes is None:
        raise DataError(f"{place}in_dims is not compatible with the structure of `inputs`.", hint="give one axis, or None, for each input")
    for value, axis in zip(leaves, axes, strict=True):
        if not isinstance(axis, int):
            if axis is not None:
                raise DataError(f"{place}Got in_dim={axis} for an input but in_dim must be either an integer dimension or None.")
        elif not isinstance(value, Tensor):
            raise DataError(
                f"{place}Got in_dim={axis} for an input but the input is of type {type(value)}. "
                "We cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
            )
        elif not -value.ndim <= axis < value.ndim:
            raise DataError(
                f"{place}Got in_dim={axis} for some input, but that input is a Tensor of dimensionality {value.ndim} "
                f"so expected in_dim to satisfy -{value.ndim} <= in_dim < {value.ndim}."
            )
    return leaves, axes


def common_size(leaves: list[Any], axes: list[int | None]) -> int:
    """How many elements the mapped axes have."""
    sizes = [value.shape[axis] for value, axis in zip(leaves, axes, strict=True) if axis is not None]
    if not sizes:
        raise DataError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise DataError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension"
        )
    if not sizes[0]:
        raise DataError("vmap over an axis without elements", hint="gradcli calls the function once for each element: give one at least")
    return int(sizes[0])


@contextmanager
def draws(randomness: str) -> Iterator[Callable[[], None]]:
    """Let the function draw at each of its calls as `randomness` says; what is given is called before each."""
    generator, seen = state.generator, state.mapping
    begin: Any = state.rng.bit_generator.state if randomness == "same" else None

    def same() -> None:
        state.rng.bit_generator.state = begin

    if randomness == "error":
        state.generator = Refusal()  # type: ignore[assignment]
    state.mapping = True
    try:
        yield same if randomness == "same" else lambda: None
    finally:
        state.mapping = seen
        if randomness == "error":
            state.generator = generator


def joined(results: list[Any], out_dims: Any, name: str) -> Any:
    """The results of all calls side by side."""
    first = results[0]
    if isinstance(first, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]
    axes = same_for_all(out_dims, first)
    if axes is None:
        raise DataError(f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`.")
    columns = []
    for axis, column in zip(axes, zip(*map(leaves_of, results), strict=True), strict=True):
        if axis is not None and not isinstance(column[0], Tensor):
            raise DataError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(column[0])}. "
                "Did you mean to set out_dims= to None for output?"
            )
        columns.append(column[0] if axis is None else FUNCTIONS["stack"](list(column), axis))
    return rebuilt(first, columns)
