"""How much more than bare numpy the engine takes: 10,000 scalar sin, mul and add operations, forward and backward.

    python tests/benchmarks/engine.py

Both are timed in the same process, the cyclic collector paused; the least of 30 rounds counts, and no figure is asserted.
"""

import gc
import time

import numpy as np

from gradcli.engine import backward
from gradcli.engine.tensor import tensor
from gradcli.ops.trigonometric import sin

OPERATIONS = 10_000


def by_hand() -> None:
    """The same values and gradients with nothing but numpy."""
    h, w, b = np.array(0.5), np.array(0.9), np.array(0.1)
    kept = []
    for _ in range(OPERATIONS // 3):
        s = np.sin(h)
        kept.append((h, s))
        h = np.add(np.multiply(s, w), b)
    g, gw, gb = np.array(1.0), np.array(0.0), np.array(0.0)
    for x, s in reversed(kept):
        gb = np.add(gb, g)
        gw = np.add(gw, np.multiply(g, s))
        g = np.multiply(np.multiply(g, w), np.cos(x))


def forward() -> object:
    h, w, b = tensor(0.5, requires_grad=True), tensor(0.9, requires_grad=True), tensor(0.1, requires_grad=True)
    for _ in range(OPERATIONS // 3):
        h = sin(h) * w + b
    return h


def main() -> None:
    gc.freeze()
    gc.disable()
    clock = time.process_time
    hand, there, back = [], [], []
    with np.errstate(all="ignore"):
        for _ in range(30):
            start = clock()
            by_hand()
            hand.append(clock() - start)
            start = clock()
            root = forward()
            there.append(clock() - start)
            start = clock()
            backward(root)
            back.append(clock() - start)
    scale = 1e6 / OPERATIONS
    print(f"numpy by hand {min(hand) * scale:.2f} us/op, forward {min(there) * scale:.2f}, backward {min(back) * scale:.2f}")
    print(f"ratio {(min(there) + min(back)) / min(hand):.2f}")


if __name__ == "__main__":
    main()
