"""Where a model failed: the innermost layer, its inputs, what it expected, and what to try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.inspect.figures import shape
from stepscope.inspect.table import Row, Table
from stepscope.inspect.visit import Lookup, place

if TYPE_CHECKING:
    from stepscope.records.step import StepRecord

_HINTS = {
    "expected tensor for argument #1 'indices'": "the layer looks up indices: give whole numbers, dtypes=torch.int64",
    "expected more than 1 value per channel": "a batch norm in training mode needs more than one value per channel",
    "index out of range in self": "an index is larger than the embedding's table",
    "must have the same dtype": "the input has another dtype than the weights: set dtypes=",
    "expected scalar type": "the input has another dtype than the weights: set dtypes=",
    "expected all tensors to be on the same device": "inputs and model are on different devices: set device=",
    "required positional argument": "forward needs more inputs: give a size for each, or name them",
}


@dataclass
class Failure:
    path: str | None
    """The innermost module that failed; None if no module had started."""
    type: str
    extra: str
    inputs: list[str]
    parameters: list[str]
    message: str
    """The exception's own message."""
    line: str = ""
    hint: str = ""

    def lines(self) -> list[str]:
        where = "before any layer ran" if self.path is None else f"in {self.path or 'the model'}"
        what = f" {self.type}({self.extra})" if self.path else ""
        said = [f"FAILED {where}{what}{f', {self.line}' if self.line else ''}", f"  {self.message}"]
        if self.inputs:
            said.append(f"  its inputs were {', '.join(self.inputs)}")
        if self.parameters:
            said.append(f"  its parameters are {', '.join(self.parameters)}")
        return said + ([f"  {self.hint}"] if self.hint else [])

    def cut(self, table: Table) -> None:
        """Drop the rows after the layer that failed."""
        if not table.rows or table.columns[0] != "module":
            return
        ran = [n for n, row in enumerate(table.rows) if row.cells.get("calls")]
        last = max(ran, default=0)
        rest = len(table.rows) - last - 1
        if rest > 0:
            del table.rows[last + 1 :]
            table.rows.append(Row(f"... {rest} more not reached", {}, 0, "", "dim"))


def failure_of(record: StepRecord, error: Exception) -> Failure:
    lookup = Lookup(record)
    failed = next((call for call in reversed(record.calls) if call.error), None)
    words = f"{type(error).__name__}: {error}"
    text = str(error).lower()
    hint = next((advice for sign, advice in _HINTS.items() if sign in text), "")
    line = _line_of_failed_op(record, lookup)
    if failed is None:
        return Failure(None, record.model, "", [], [], words, line, hint)
    module = lookup.modules.get(failed.path)
    given = [f"{shape(tensor.shape)} {tensor.dtype}" for tensor in lookup.infos(failed.inputs)]
    kind, extra = (module.type, module.extra) if module is not None else ("", "")
    return Failure(failed.path, kind, extra, given, _parameters_of(record, failed.path), words, line, hint)


def _line_of_failed_op(record: StepRecord, lookup: Lookup) -> str:
    op = next((op for op in reversed(record.ops) if op.error), None)
    site = None if op is None else lookup.site(op.site)
    return "" if site is None else place(site)


def _parameters_of(record: StepRecord, path: str) -> list[str]:
    """The module's own parameters with their shapes."""
    own = []
    for tensor in record.tensors:
        module, _, name = (tensor.name or "").rpartition(".")
        if tensor.kind == "parameter" and name and module == path:
            own.append(f"{name} {shape(tensor.shape)}")
    return own
