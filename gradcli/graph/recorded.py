"""The value that each node had when the program ran, from the trace that the run left beside the graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from gradcli.engine.function import FunctionNode
from gradcli.engine.inplace import CopySlices
from gradcli.engine.node import Node, OperationNode
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import Record, Tracer
from gradcli.ops.window import WriteWindow


class Recorded:
    """Values by node; None where the run was not traced."""

    def __init__(self, nodes: Sequence[Node], tensors: Sequence[Tensor], tracer: Tracer | None) -> None:
        self.values: dict[Node, Any] = {}
        self.records: dict[Node, Record] = {}
        self.leaves: dict[int, Any] = {}
        self.written: set[Node] = set()
        records = all_records([t.own_record for t in tensors if t.own_record is not None])
        self._leaves(records)
        self._from_nodes(nodes)
        self._from_calls(tracer)
        self._in_place(nodes, records)
        for tensor in tensors:
            node = tensor.node
            if node is not None and node not in self.values and tensor.output_nr == 0:
                self.values[node] = tensor.value

    def value(self, node: Node) -> Any:
        return self.values.get(node)

    def leaf(self, leaf: Tensor) -> Any:
        """What a leaf held when it was first used."""
        return self.leaves.get(id(leaf), leaf.value)

    def is_written(self, node: Node) -> bool:
        return node in self.written

    def version(self, node: Node) -> int:
        """Which write to its memory this one was: one more than that which made what it wrote into."""
        count = 0
        while node in self.written:
            count += 1
            if not node.edges or node.edges[0] is None:
                break
            node = node.edges[0][0]
        return count

    def _leaves(self, records: list[Record]) -> None:
        for record in records:
            if record.op is None and record.tensor is not None:
                self.leaves.setdefault(id(record.tensor), record.value)

    def _from_nodes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, OperationNode) and node.records and len(node.records) > len(node.edges):
                record = node.records[len(node.edges)]
                if record is not None:
                    self.values[node], self.records[node] = record.value, record

    def _from_calls(self, tracer: Tracer | None) -> None:
        for call in tracer.calls if tracer is not None else ():
            if call.node is None or not call.outputs:
                continue
            first = call.outputs[0]
            if isinstance(first, Record):
                self.values[call.node], self.records[call.node] = first.value, first

    def _in_place(self, nodes: Sequence[Node], records: list[Record]) -> None:
        """Writes have no record beside their node: they are found by operation and operands, those through a view by place."""
        made: dict[tuple[int, tuple[int, ...]], Record] = {(id(r.op), operands(r.inputs)): r for r in records}
        writes: dict[Any, list[Record]] = defaultdict(list)
        for record in records:
            if isinstance(record.op, WriteWindow):
                writes[record.span].append(record)
        copies: dict[Any, list[Node]] = defaultdict(list)
        for node in nodes:
            if isinstance(node, CopySlices):
                copies[node.span].append(node)
                self.written.add(node)
            elif isinstance(node, OperationNode) and node.records and node not in self.values:
                found = made.get((id(node.op), operands(node.records)))
                if found is not None:
                    self.values[node], self.records[node] = found.value, found
                    self.written.add(node)
        for span, group in copies.items():
            for node, record in zip(group, writes[span]):
                self.values[node], self.records[node] = record.value, record


def operands(inputs: Sequence[Any]) -> tuple[int, ...]:
    return tuple(id(r) for r in inputs if isinstance(r, Record))


def all_records(roots: Sequence[Record]) -> list[Record]:
    """Every record behind some, in order of creation."""
    seen = {id(r): r for r in roots}
    stack = list(seen.values())
    while stack:
        for item in stack.pop().inputs:
            if isinstance(item, Record) and id(item) not in seen:
                seen[id(item)] = item
                stack.append(item)
    return sorted(seen.values(), key=lambda r: r.index)


__all__ = ["FunctionNode", "Recorded", "all_records"]
