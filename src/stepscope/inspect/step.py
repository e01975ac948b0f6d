"""A recorded step for users: visit it, print it, tabulate it, draw it, find where it first went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from stepscope.errors import UsageError
from stepscope.inspect.visit import Lookup, OpView
from stepscope.records.step import ModuleCall, ModuleInfo, StepRecord, TensorInfo

if TYPE_CHECKING:
    from stepscope.inspect.estimate import Estimate
    from stepscope.inspect.logged import LoggedStep
    from stepscope.inspect.table import Table
    from stepscope.record.nonfinite import Birth

By = Literal["module", "op", "line", "phase", "type"]


class Step:
    """The result of `stepscope.record`: every operation of one step.

    >>> with stepscope.record(model) as step:                     # doctest: +SKIP
    ...     criterion(model(x), y).backward()
    >>> step.visit(lambda op: print(op.name, op.module))          # doctest: +SKIP
    >>> print(step.table(by="module", depth=2))                   # doctest: +SKIP
    """

    def __init__(self, source: StepRecord | Callable[[], StepRecord]) -> None:
        """From a finished record, or from something that provides it once the step is over."""
        self._source = source
        self._lookup: Lookup | None = None

    @property
    def record(self) -> StepRecord:
        """The plain data (`stepscope.records.step`)."""
        return self._look().record

    def _look(self) -> Lookup:
        if self._lookup is None:
            found = self._source if isinstance(self._source, StepRecord) else self._source()
            self._lookup = Lookup(found)
        return self._lookup

    @property
    def ops(self) -> list[OpView]:
        return list(self)

    @property
    def tensors(self) -> tuple[TensorInfo, ...]:
        return self.record.tensors

    @property
    def modules(self) -> tuple[ModuleInfo, ...]:
        return self.record.modules

    @property
    def calls(self) -> tuple[ModuleCall, ...]:
        return self.record.calls

    def __len__(self) -> int:
        return len(self.record.ops)

    def __iter__(self) -> Iterator[OpView]:
        lookup = self._look()
        return (OpView(op, lookup) for op in lookup.record.ops)

    def __getitem__(self, index: int) -> OpView:
        return OpView(self.record.ops[index], self._look())

    def visit(self, visitor: Callable[[OpView], Any]) -> None:
        """Call `visitor` with every op, in execution order: a function, a lambda, or any callable object."""
        if not callable(visitor):
            raise UsageError(f"visit() was given a {type(visitor).__name__}; expected a function that takes one op")
        for op in self:
            visitor(op)

    def print(self, *, summary: bool = True, forward: bool = True, backward: bool = True) -> None:
        """Print the step op by op, with tensor statistics if they were recorded.

        `summary` adds the totals; `forward` and `backward` select the ops (set-up, loss, optimizer and other ops
        count as forward).
        """
        from stepscope.inspect.step_text import print_step

        print_step(self, summary=summary, forward=forward, backward=backward)

    def table(
        self,
        by: By = "module",
        depth: int | None = None,
        columns: Sequence[str] | str | None = None,
        sort: str | None = None,
    ) -> Table:
        """The step as rows: by module, op, source line, phase, or type of op.

        `depth` limits the module tree (1: the model's children); `columns` selects from those in
        docs/inspect.md; `sort` names a column, largest first, `-name` for smallest first.
        """
        from stepscope.inspect.tables import step_table

        return step_table(self._look(), by, depth, columns, sort)

    def graph(self, **options: Any) -> Any:
        """The step as a graph of nested boxes: `.show()`, `.save("net.html" | ".svg" | ".png" | ".json" | ".dot")`."""
        from stepscope.inspect.graph.graph import graph_of

        return graph_of(self.record, **options)

    def estimate(self, batch_size: int | None = None, optimizer: str = "adam") -> Estimate:
        """The memory that training needs, from the shapes, beside what this step measured."""
        from stepscope.inspect.estimate import estimate_memory

        return estimate_memory(self.record, batch_size=batch_size, optimizer=optimizer)

    def first_nonfinite(self) -> Birth | None:
        """The op that first produced a NaN or an infinity that reached the loss or a gradient.

        One that reached neither (a mask of -inf removed by a softmax) is returned only if there is no other.
        None if every value was finite.
        """
        from stepscope.record.nonfinite import births

        if not any(op.output_stats is not None or op.input_stats is not None for op in self.record.ops):
            raise UsageError(
                "this step was recorded without statistics, so its values are unknown; record it "
                "with stepscope.record(model, stats=True)"
            )
        return next(iter(births(self.record)), None)  # those that matter come first

    def save(self, path: str | Path) -> Path:
        """Write the step to one file; `Step.load` reads it, even without torch."""
        from stepscope.record.serialise import save

        return save(self.record, path)

    @classmethod
    def load(cls, path: str | Path) -> Step:
        from stepscope.record.serialise import load

        return cls(load(path))

    def to_pandas(self) -> Any:
        """One row per op."""
        return self.table(by="op").to_pandas()

    def __repr__(self) -> str:
        if self._lookup is None and not isinstance(self._source, StepRecord):
            return "<a step, being recorded>"
        record = self.record
        return f"<step of {record.model or 'plain code'}: {len(record.ops)} ops, {len(record.modules)} modules>"

    def _repr_html_(self) -> str:
        return self.table(by="module")._repr_html_()

    def _stepscope_media_(self) -> LoggedStep:
        """What `run.log({"recording": step})` stores."""
        from stepscope.inspect.logged import LoggedStep

        return LoggedStep(self.record)
