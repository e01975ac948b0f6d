"""The table by module: the module tree in execution order, each with everything that ran inside it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from stepscope.inspect.table import Row
from stepscope.inspect.tally import Tally

if TYPE_CHECKING:
    from stepscope.inspect.visit import Lookup
    from stepscope.records.step import ModuleCall, ModuleInfo

MODULE_COLUMNS = [
    "module", "type", "input", "output", "dtype", "device", "params", "trainable", "flops", "macs", "backward_flops",
    "forward_us", "backward_us", "time_us", "saved_bytes", "ops", "calls", "params_percent", "param_bytes",
    "time_percent",
]  # fmt: skip


def module_rows(lookup: Lookup, depth: int | None) -> list[Row]:
    """Depth 0 is the model alone, 1 its children, None everything."""
    tree = _Tree(lookup)
    rows = [row for root in tree.roots for row in tree.rows_below(root, 0, depth)]
    outside = _outside(lookup)
    return rows + [Row(f"({phase})", {"module": f"({phase})", **tally.cells()}) for phase, tally in outside.items()]


def _outside(lookup: Lookup) -> dict[str, Tally]:
    """What ran outside any module, by phase."""
    found: dict[str, Tally] = {}
    for op in lookup.record.ops:
        if lookup.innermost_call(op) is None and lookup.module_of(op) is None:
            found.setdefault(op.phase, Tally()).add(op)
    return found


class _Tree:
    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        paths = [_call_paths(lookup, place) for place in range(len(lookup.record.calls))]
        self.tallies = _inclusive(lookup, paths)
        self.calls: dict[str, list[ModuleCall]] = defaultdict(list)
        self.recursive: set[str] = set()
        for place, call in enumerate(lookup.record.calls):
            self.calls[call.path].append(call)
            if any(outer.path == call.path for outer in lookup.enclosing(place)):
                self.recursive.add(call.path)
        self.own: dict[str, ModuleInfo] = {module.path: module for module in lookup.record.modules}
        self.children: dict[str, list[str]] = defaultdict(list)
        self.roots: list[str] = []
        for path in lookup.modules:
            parent = self._parent(path)
            (self.roots if parent is None else self.children[parent]).append(path)
        self._sort_siblings(paths)
        self.all_parameters = sum(module.parameters for module in lookup.record.modules)
        self.all_time = Tally(lookup.record.ops).time_us
        self._sums: dict[str, tuple[int, int, int]] = {}
        self.tied, self.used = _weights(lookup)

    def _parent(self, path: str) -> str | None:
        """The nearest module around it that is in the table."""
        parent = self.lookup.parent_of(path)
        while parent is not None and parent not in self.lookup.modules:
            parent = self.lookup.parent_of(parent)
        return None if parent == path else parent

    def _sort_siblings(self, paths: list[list[str]]) -> None:
        """Into the order of their first calls; those never called last, as they were defined."""
        order = {path: place for place, path in enumerate(self.lookup.modules)}
        first: dict[str, int] = {}
        for place, found in enumerate(paths):
            for path in found:
                first.setdefault(path, place)
        late = len(self.lookup.record.calls)
        for siblings in (self.roots, *self.children.values()):
            siblings.sort(key=lambda path: (first.get(path, late), order[path]))

    def rows_below(self, path: str, level: int, depth: int | None) -> list[Row]:
        rows = [self.row(path, level)]
        if path in self.own and (depth is None or level < depth):
            for child in self.children[path]:
                rows += self.rows_below(child, level + 1, depth)
        return rows

    def row(self, path: str, level: int) -> Row:
        module = self.lookup.modules[path]
        parent = self.lookup.parent_of(path)
        label = path.removeprefix(f"{parent}.") if parent else path
        if level == 0:
            label = module.type if path == "" else path
        cells: dict[str, Any] = {"module": path, "type": module.type}
        if path not in self.own:
            return Row(label, cells, level, f"shared: is {module.path}", "dim")
        calls = self.calls.get(path, [])
        parameters, trainable, param_bytes = self.sums(path)
        cells.update(
            params=parameters,
            trainable=trainable,
            param_bytes=param_bytes,
            params_percent=100 * parameters / self.all_parameters if self.all_parameters else None,
            calls=len(calls) if self.lookup.record.calls else None,
        )
        tally = self.tallies.get(path)
        if tally is not None:
            cells.update(tally.cells())
            if tally.time_us is not None and self.all_time:
                cells["time_percent"] = 100 * tally.time_us / self.all_time
        mark, style = self._describe_calls(path, calls, cells)
        if path in self.tied:
            mark = f"{mark}, weight is {self.tied[path]}".removeprefix(", ")
        return Row(label, cells, level, mark, style)

    def _describe_calls(self, path: str, calls: list[ModuleCall], cells: dict[str, Any]) -> tuple[str, str]:
        if not calls:
            return self._without_calls(path)
        failed = next((call for call in calls if call.error), None)
        first = failed or calls[0]
        outputs = self.lookup.infos(first.outputs)
        cells["input"] = [list(tensor.shape) for tensor in self.lookup.infos(first.inputs)]
        if first.error is None or outputs:
            cells["output"] = [list(tensor.shape) for tensor in outputs]
        if outputs:
            cells["dtype"], cells["device"] = outputs[0].dtype, outputs[0].device
        if failed is not None:
            return "failed", "bold red"
        again = sum(call.recomputed for call in calls)
        marks = {f"{len(calls)} calls": len(calls) > 1, "recursive": path in self.recursive}
        marks[f"{again} recomputed"] = again > 0
        return ", ".join(mark for mark, is_so in marks.items() if is_so), ""

    def _without_calls(self, path: str) -> tuple[str, str]:
        may_have_run = path in self.tallies or not self.lookup.record.calls or self.children[path]
        if may_have_run:
            return "", ""
        return ("not called, weights used", "") if path in self.used else ("not called", "dim")

    def sums(self, path: str) -> tuple[int, int, int]:
        """Parameters of a module and its descendants, how many are trained, and their bytes."""
        known = self._sums.get(path)
        if known is None:
            module = self.own.get(path)
            parameters = trainable = size = 0
            if module is not None:
                parameters, trainable, size = module.parameters, module.trainable, module.parameter_bytes
                for child in self.children[path]:
                    below = self.sums(child)
                    parameters, trainable, size = parameters + below[0], trainable + below[1], size + below[2]
            known = self._sums[path] = parameters, trainable, size
        return known


def _weights(lookup: Lookup) -> tuple[dict[str, str], set[str]]:
    """Modules whose weight is tied to another's, with its name there; and modules whose weights some op has read."""
    tied: dict[str, str] = {}
    read = {ref.id for op in lookup.record.ops for ref in op.inputs}
    used: set[str] = set()
    for tensor in lookup.record.tensors:
        if tensor.kind != "parameter" or tensor.name is None:
            continue
        owner = lookup.modules.get(tensor.name.rpartition(".")[0])
        for alias in tensor.aliases:
            place = alias.rpartition(".")[0]
            if lookup.modules.get(place) is not owner:
                tied[place] = tensor.name
        if tensor.id in read:
            used.add(tensor.name.rpartition(".")[0])
    return tied, used


def _call_paths(lookup: Lookup, index: int) -> list[str]:
    """A call's path and the containers between it and the enclosing call (a ModuleList itself never runs)."""
    call = lookup.record.calls[index]
    outer = lookup.around(index)
    above = None if outer is None else lookup.record.calls[outer].path
    path = call.path
    if above is not None:
        names = [path, *lookup.modules[path].aliases] if path in lookup.modules else [path]
        path = next((name for name in names if above == "" or name.startswith(f"{above}.")), path)
    found = [call.path]
    while (parent := lookup.parent_of(path)) is not None and parent != above:
        if above not in (None, "") and not parent.startswith(f"{above}."):
            break
        if parent in lookup.modules:
            found.append(parent)
        path = parent
    return found


def inclusive_tallies(lookup: Lookup) -> dict[str, Tally]:
    """What ran inside each module and its children, by calls: a shared module counts for its caller."""
    return _inclusive(lookup, [_call_paths(lookup, place) for place in range(len(lookup.record.calls))])


def _inclusive(lookup: Lookup, paths: list[list[str]]) -> dict[str, Tally]:
    chains: list[set[str]] = []
    for index, found in enumerate(paths):
        outer = lookup.around(index)
        chains.append({*found, *(chains[outer] if outer is not None else ())})
    tallies: dict[str, Tally] = {}
    for op in lookup.record.ops:
        call = lookup.innermost_call(op)
        for path in chains[call] if call is not None else _path_and_above(lookup, lookup.module_of(op)):
            tally = tallies.get(path)
            if tally is None:
                tally = tallies[path] = Tally()
            tally.add(op)
    return tallies


def _path_and_above(lookup: Lookup, path: str | None) -> list[str]:
    found = []
    while path is not None:
        found.append(path)
        path = lookup.parent_of(path)
    return found
