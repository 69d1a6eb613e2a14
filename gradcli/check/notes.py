"""What a target's report says besides its verdicts: kinks, switches nearby, stop-gradients, remarks of the judgements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradcli.check.opinions import Opinion
from gradcli.check.result import Note
from gradcli.check.switches import several, switch_notes
from gradcli.check.target import Target
from gradcli.check.verdicts import Judgement
from gradcli.engine.trace import Record, Tracer
from gradcli.references.path import Path
from gradcli.references.symbolic import kink_mask


def gather_notes(target: Target, judgements: Sequence[Judgement], opinions: Sequence[Opinion], tracer: Tracer) -> list[Note]:
    """Kinks, stop-gradients, and what the judgements have to say."""
    notes = [Note(kind, f"{item.name}: {text}", target.line) for item, j in zip(target.inputs, judgements) for kind, text in j.notes]
    seen: set[tuple[Any, ...]] = set()
    for opinion in opinions:
        for record in opinion.kinked if opinion.alternatives else ():
            line = record.span.line if record.span else None
            if record.op is not None and (record.op.name, line) not in seen:
                seen.add((record.op.name, line))
                notes.append(
                    Note("kink", f"{record.op.name}: {at_switch(record)} exactly at its switch; the convention is PyTorch's", line)
                )
    notes += switch_notes(steps_of(target), tracer.tests)
    for kind, span in dict.fromkeys(tracer.stops):
        notes.append(Note("stop-gradient", f"{kind}: held constant by the references", span.line if span else None))
    return notes


def at_switch(record: Record) -> str:
    """Which arguments of a kinked record are at its switch."""
    mask = kink_mask(record, [a.value if isinstance(a, Record) else a for a in record.inputs])
    return "an argument is" if mask is None else several(mask)


def steps_of(target: Target) -> Iterator[Record]:
    """The records between the inputs of a target and its outputs."""
    terms = {id(t): t for i in target.inputs for t in i.terms}
    for term in terms.values():
        if term.record is not None:
            yield from Path(term.record, [i.records(term) for i in target.inputs]).steps
