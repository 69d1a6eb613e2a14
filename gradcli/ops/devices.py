"""Devices: there is one, the CPU; the others can be named and not be used."""

from __future__ import annotations

from typing import Any

from gradcli.errors import AutogradError, Fault

KINDS = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan", "mps", "meta",
    "hpu", "mtia", "privateuseone",
)  # fmt: skip


class DeviceError(Fault, AssertionError):
    """A device that is not there."""

    kind = "unsupported"


class Device:
    """The name of a device: `cpu`, `cuda:0`."""

    __slots__ = ("index", "type")
    type: str

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        if isinstance(type, Device):
            type, index = type.type, type.index
        if isinstance(type, int):
            type, index = "cuda", type
        kind, _, number = str(type).partition(":")
        if kind not in KINDS:
            raise AutogradError(f"Expected one of {', '.join(KINDS[:-1])}, {KINDS[-1]} device type at start of device string: {kind}")
        self.type = kind
        self.index = int(number) if number.isdigit() else index

    def __repr__(self) -> str:
        return f"device(type={self.type!r}" + (")" if self.index is None else f", index={self.index})")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


CPU = Device("cpu")


def here(device: Any) -> None:
    """Refuse every device but the CPU."""
    if device is None or device is CPU:
        return
    kind = Device(device).type
    if kind != "cpu":
        text = "Torch not compiled with CUDA enabled" if kind == "cuda" else f"PyTorch is not linked with support for {kind} devices"
        raise DeviceError(text, hint="gradcli computes on the CPU: leave the device out")


class Named:
    """A constant that is known by its name alone: `torch.strided`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


STRIDED = Named("strided")
