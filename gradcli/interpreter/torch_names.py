"""Names of `torch` that neither compute nor differentiate: devices, dtypes as questions, generators, typed tensors, index tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor
from gradcli.engine.transforms import vmap
from gradcli.errors import ArgumentError, ShapeError
from gradcli.interpreter.attributes import Table
from gradcli.interpreter.creation import manual_seed, randint, scalar, tensor_of
from gradcli.interpreter.from_data import tensor
from gradcli.interpreter.kinds import add_kind
from gradcli.interpreter.leaves import FLOAT, INTEGER, leaf, plain, sizes
from gradcli.interpreter.values import Kind, Size
from gradcli.ops.devices import CPU, STRIDED, Device, Named

Members = dict[str, Any]


class Finfo:
    """What the numbers of a floating dtype can be."""

    def __init__(self, type: Any = None) -> None:
        self.dtype = FLOAT if type is None else np.dtype(type)
        if self.dtype.kind not in "fc":
            raise ArgumentError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{self.dtype.name}'")
        self.info = np.finfo(self.dtype)

    def __repr__(self) -> str:
        info, shown = self.info, [("min", self.info.min), ("max", self.info.max), ("eps", self.info.eps)]
        shown += [("smallest_normal", info.smallest_normal), ("tiny", info.tiny)]
        texts = [f"{name}={float(value):.6g}" for name, value in shown]
        return f"finfo(resolution={float(info.resolution):.6g}, {', '.join(texts)}, dtype={self.dtype.name})"


class Iinfo:
    """What the numbers of an integer dtype can be."""

    def __init__(self, type: Any) -> None:
        self.dtype = np.dtype(type)
        if self.dtype.kind not in "iu":
            raise ArgumentError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{self.dtype.name}'")
        self.info = np.iinfo(self.dtype)

    def __repr__(self) -> str:
        return f"iinfo(min={float(self.info.min):.6g}, max={float(self.info.max):.6g}, dtype={self.dtype.name})"


class Generator:
    """Stands for PyTorch's generators: all draw from the one that the run is seeded with."""

    def __init__(self, device: Any = None) -> None:
        self.seeded = 0

    def manual_seed(self, seed: int) -> Generator:
        manual_seed(seed)
        self.seeded = seed
        return self

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at 0x{id(self):x}>"


def seeded(seed: int) -> Generator:
    """torch.manual_seed."""
    return Generator().manual_seed(seed)


def typed(name: str, dtype: np.dtype) -> Kind:
    """torch.FloatTensor and its like: make a tensor of one dtype, and ask for it."""

    def make(*data: Any) -> Tensor:
        if len(data) == 1 and isinstance(data[0], (list, tuple, Tensor)):
            return tensor(data[0], dtype=dtype)
        return leaf(np.zeros(sizes(data or (0,), name), dtype))

    return Kind(f"torch.{name}", (Tensor,), make, test=lambda value: value.dtype == dtype)


TYPED = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "LongTensor": "int64", "IntTensor": "int32",
    "ShortTensor": "int16", "CharTensor": "int8", "ByteTensor": "uint8", "BoolTensor": "bool",
}  # fmt: skip


def inclusive_range(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, requires_grad: bool = False, **o: Any) -> Tensor:
    """torch.range: start, start + step, ... with end."""
    plain(o, "range")
    first, last, step = (scalar(v) for v in ((0, start, step) if end is None else (start, end, step)))
    if not step:
        raise ShapeError("step must be nonzero")
    count = int((last - first) / step) + 1
    state.charge(max(count, 0))
    return leaf((first + step * np.arange(count)).astype(FLOAT if dtype is None else dtype), requires_grad)


def triangle(indices: Callable[..., Any]) -> Callable[..., Tensor]:
    """The rows and columns of the elements of a triangle."""

    def create(row: int, col: int, offset: int = 0, *, dtype: Any = None, **options: Any) -> Tensor:
        plain(options, "tril_indices")
        sizes((row, col), "tril_indices")
        return leaf(np.stack(indices(row, offset, col)).astype(INTEGER if dtype is None else dtype))

    return create


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes have together."""
    try:
        return Size(np.broadcast_shapes(*[(s,) if isinstance(s, int) else tuple(s) for s in shapes]))
    except ValueError:
        raise ShapeError("Shape mismatch: objects cannot be broadcast to a single shape") from None


def only_dtypes(function: str, **given: Any) -> None:
    for position, (name, value) in enumerate(given.items(), 1):
        if not isinstance(value, np.dtype):
            where = f"argument '{name}' (position {position})"
            raise ArgumentError(f"{function}(): {where} must be torch.dtype, not {type(value).__name__}", hint="for example torch.float64")


def promote_types(type1: np.dtype, type2: np.dtype) -> np.dtype:
    """The dtype in which two dtypes meet: a floating one wins over integers."""
    only_dtypes("promote_types", type1=type1, type2=type2)
    for a, b in ((type1, type2), (type2, type1)):
        if a.kind in "fc" and b.kind in "biu":
            return a
    return np.promote_types(type1, type2)


def result_type(tensor1: Any, tensor2: Any) -> np.dtype:
    """The dtype of the sum of two tensors or numbers."""
    one, other = (t if isinstance(t, Tensor) else leaf(np.asarray(t)) for t in (tensor1, tensor2))
    return (one.flatten()[:1] if one.ndim else one).add(other.flatten()[:1] if other.ndim else other).dtype  # type: ignore[no-any-return]


def can_cast(from_: np.dtype, to: np.dtype) -> bool:
    """Whether PyTorch casts without being asked: never from floating to integer, nor from complex to real."""
    only_dtypes("can_cast", from_=from_, to=to)
    order = "biufc"
    return order.index(to.kind) >= order.index(from_.kind) or (from_.kind, to.kind) in (("u", "i"), ("i", "u"))


def randint_like(input: Tensor, low: int, high: int | None = None, **options: Any) -> Tensor:
    """Integers of the shape and dtype of a tensor."""
    bounds = (0, low) if high is None else (low, high)
    return randint(*bounds, tensor_of(input, "randint_like").shape, **{"dtype": input.dtype, **options})


def multinomial(input: Tensor, num_samples: int, replacement: bool = False, **options: Any) -> Tensor:
    """Numbers of columns, drawn with the probabilities of each row."""
    plain(options, "multinomial")
    rows = np.atleast_2d(np.asarray(tensor_of(input, "multinomial").value))
    if np.any(rows < 0) or np.any(rows.sum(1) <= 0):
        raise ShapeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and num_samples > rows.shape[1]:
        raise ShapeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    state.charge(num_samples * len(rows))
    drawn = np.stack([state.rng.choice(len(row), num_samples, replacement, row / row.sum()) for row in rows])
    return leaf(drawn if input.ndim > 1 else drawn[0])


def typename(value: Any) -> str:
    """The legacy name of the type of a tensor."""
    return str(value.type()) if isinstance(value, Tensor) else type(value).__name__


def set_default_tensor_type(kind: Any) -> None:
    """The default is float64 and stays so."""
    if "Double" not in str(kind):
        state.warn("the default dtype of gradcli is float64; give dtype=torch.float32 where single precision matters", UserWarning)


def fftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """The frequencies of a Fourier transform of n samples that lie d apart."""
    sizes((n,), "fftfreq")
    return leaf(np.fft.fftfreq(n, d))


def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """The frequencies that are not negative."""
    sizes((n,), "rfftfreq")
    return leaf(np.fft.rfftfreq(n, d))


def unused(*args: Any, **options: Any) -> None:
    """A switch of PyTorch's that changes nothing here."""


DEVICE = add_kind(Device, Kind("torch.device", (Device,), Device))

TORCH_NAMES: Members = {
    "device": DEVICE, "newaxis": None, "strided": STRIDED, "contiguous_format": Named("contiguous_format"),
    "preserve_format": Named("preserve_format"), "channels_last": Named("channels_last"), "finfo": Finfo, "iinfo": Iinfo,
    "Generator": Kind("torch.Generator", (Generator,), Generator), "manual_seed": seeded, "initial_seed": lambda: 0, "vmap": vmap,
    **{name: typed(name, np.dtype(dtype)) for name, dtype in TYPED.items()},
    "tril_indices": triangle(np.tril_indices), "triu_indices": triangle(np.triu_indices), "broadcast_shapes": broadcast_shapes,
    "promote_types": promote_types, "result_type": result_type, "can_cast": can_cast, "randint_like": randint_like,
    "multinomial": multinomial, "typename": typename, "set_default_tensor_type": set_default_tensor_type,
    "get_default_device": lambda: CPU, "set_default_device": lambda device: None, "get_num_threads": lambda: 1,
    **dict.fromkeys(("set_num_threads", "set_num_interop_threads", "use_deterministic_algorithms", "set_warn_always"), unused),
    **dict.fromkeys(("set_flush_denormal", "set_float32_matmul_precision"), unused),
    "is_signed": lambda x: tensor_of(x, "is_signed").dtype.kind not in "bu",
    "is_inference": lambda x: tensor_of(x, "is_inference").untracked,
    "is_same_size": lambda x, other: x.shape == other.shape, "detach": lambda x: tensor_of(x, "detach").detach(),
    "range": inclusive_range,
}  # fmt: skip

CUDA: Members = {
    "is_available": lambda: False, "device_count": lambda: 0, "is_initialized": lambda: False,
    **dict.fromkeys(("manual_seed", "manual_seed_all", "empty_cache"), unused),
}  # fmt: skip

OTHER_MODULES: dict[str, Members] = {
    "torch.cuda": CUDA,
    "torch.backends": {},
    "torch.backends.mps": {"is_available": lambda: False, "is_built": lambda: False},
    "torch.fft": {"fftfreq": fftfreq, "rfftfreq": rfftfreq},
}

TABLES: dict[type, Table] = {
    Device: Table("torch.device", {"type": lambda d: d.type, "index": lambda d: d.index}),
    Finfo: Table(
        "torch.finfo",
        {
            "dtype": lambda i: i.dtype.name, "bits": lambda i: int(i.info.bits),
            "eps": lambda i: float(i.info.eps), "max": lambda i: float(i.info.max), "min": lambda i: float(i.info.min),
            "tiny": lambda i: float(i.info.tiny), "smallest_normal": lambda i: float(i.info.smallest_normal),
            "resolution": lambda i: float(i.info.resolution),
        },
    ),
    Iinfo: Table(
        "torch.iinfo",
        {
            "dtype": lambda i: i.dtype.name, "bits": lambda i: i.info.bits, "max": lambda i: int(i.info.max),
            "min": lambda i: int(i.info.min),
        },
    ),
    Generator: Table(
        "torch.Generator",
        methods={"manual_seed": Generator.manual_seed, "seed": lambda g: g.seeded, "initial_seed": lambda g: g.seeded},
    ),
}  # fmt: skip
