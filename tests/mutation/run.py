"""Every derivative rule made wrong in every way that mutants.py knows: who notices?

    python tests/mutation/run.py [NAME ...] [--every N]

A mutant is caught when the generic comparison over the catalogue notices it, and when `gradcli check` does. Prints the
survivors and the counts; exits 1 when one survives that equivalent.txt does not list with a proof. Mutants that gave the
same as the right rule at every input (a multiple of a zero gradient) are no mutants; they are counted apart.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from catch import Programs, Truth, generic_tests_hold, truths
from mutants import SUMS, Compared, Mutant, applied, mutants, wrong_sum

EQUIVALENT = Path(__file__).with_name("equivalent.txt")


@dataclass
class Count:
    """What became of the mutants."""

    caught: int = 0
    survived: list[str] = field(default_factory=list)
    equivalent: list[str] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    """Caught by the generic tests, without effect in any program that check was given (complex numbers, inner operations)."""

    @property
    def total(self) -> int:
        return self.caught + len(self.survived)


def equivalent() -> dict[str, str]:
    """The mutants that are right, by pattern of their name, each with the proof."""
    lines = [line for line in EQUIVALENT.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {name.strip(): proof.strip() for name, _, proof in (line.partition(" => ") for line in lines)}


def attempts(group: Iterator[Mutant], name: str, every: int) -> Iterator[tuple[str, AbstractContextManager[Compared]]]:
    """The mutants of one operation, each by name, to be applied."""
    for k, mutant in enumerate(group):
        if k % every == 0:
            yield mutant.name, applied(mutant)
    for how in SUMS:
        yield f"{name}: {how}", wrong_sum(how)


def judge(
    name: str, mutant: AbstractContextManager[Compared], found: list[Truth], programs: Programs, known: dict[str, str], count: Count
) -> None:
    """Who notices one mutant."""
    if any(fnmatchcase(name, pattern) for pattern in known):
        count.equivalent.append(name)
        return
    with mutant as compared, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        generic = not generic_tests_hold(found)
        effect, compared.effect = compared.effect, False
        checked = not programs.hold() if programs.some else None
    if compared.refused:
        return
    if not effect and not compared.effect:
        count.idle.append(name)
    elif generic and not compared.effect:
        count.caught += 1
        count.unseen.append(name)
    elif generic and checked:
        count.caught += 1
    else:
        count.survived.append(name)
        print(f"survives {name}   generic: {'caught' if generic else 'MISSED'}, check: {said(checked)}", flush=True)


def said(checked: bool | None) -> str:
    return {True: "caught", False: "MISSED", None: "no program"}[checked]


def run(names: list[str], every: int) -> Count:
    """All mutants of the operations of these names (none: all), or every N-th."""
    known, count = equivalent(), Count()
    for cls, group in groupby(mutants(names), key=lambda m: m.cls):
        found = truths(cls)
        if not found:
            continue
        programs = Programs(found)
        if not generic_tests_hold(found):
            print(f"the right rule of {cls.__name__} does not hold", flush=True)
        if not programs.some:
            print(f"no program for {cls.__name__}", flush=True)
        for name, mutant in attempts(group, cls.__name__, every):
            judge(name, mutant, found, programs, known, count)
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="operation classes; all by default")
    parser.add_argument("--every", type=int, default=1, help="only every N-th mutant")
    options = parser.parse_args()
    count = run(options.names, options.every)
    print(f"{len(count.idle)} without effect at any input, {len(count.equivalent)} equivalent (each with its proof in {EQUIVALENT.name})")
    seen = count.caught - len(count.unseen)
    print(
        f"{count.total} mutants, {count.caught} caught by the generic tests, {seen} of these by check too (the others change nothing there)"
    )
    return 1 if count.survived else 0


if __name__ == "__main__":
    sys.exit(main())
