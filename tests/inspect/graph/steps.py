"""Steps written op by op, without torch."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stepscope.records.step import ModuleCall, ModuleInfo, Op, Site, StepRecord, TensorInfo, TensorRef

if TYPE_CHECKING:
    from collections.abc import Iterator


class Writer:
    """Calls of modules and ops, in the order they run.

    step = Writer()
    with step.module("", "Net"):
        y = step.op("relu", step.input(2, 3))
    step.record()
    """

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.tensors: list[TensorInfo] = []
        self.modules: dict[str, ModuleInfo] = {}
        self.calls: list[dict[str, Any]] = []
        self.stack: list[int] = []
        self.sites = [Site(file="net.py", line=7, function="forward", text="y = self.layer(x)")]
        self.phase = "forward"

    def tensor(self, shape: tuple[int, ...], **more: Any) -> TensorRef:
        number = len(self.tensors)
        fields = {"dtype": "float32", "device": "cpu", "storage": number + 1, **more}
        self.tensors.append(TensorInfo(id=number, shape=shape, **fields))
        return TensorRef(number)

    def input(self, *shape: int) -> TensorRef:
        return self.tensor(shape, kind="input")

    def parameter(self, name: str, *shape: int) -> TensorRef:
        return self.tensor(shape, kind="parameter", name=name)

    def op(self, name: str, *inputs: TensorRef, shape: tuple[int, ...] = (2, 4), **more: Any) -> TensorRef:
        """An op with one output; `outputs=` to say otherwise."""
        outputs = more.pop("outputs", None)
        made = outputs if outputs is not None else (self.tensor(shape),)
        call = self.calls[self.stack[-1]] if self.stack else None
        self.ops.append(
            Op(
                index=len(self.ops),
                name=name,
                phase=more.pop("phase", self.phase),
                module=None if call is None else call["path"],
                call=0 if call is None else call["call"],
                site=0,
                inputs=inputs,
                outputs=made,
                **more,
            )
        )
        return made[0] if made else TensorRef(-1)

    @contextmanager
    def module(self, path: str, kind: str = "Block", structure: str | None = None) -> Iterator[dict[str, Any]]:
        self.modules.setdefault(path, ModuleInfo(path=path, type=kind, structure=structure or kind))
        number = sum(call["path"] == path for call in self.calls)
        parent = self.stack[-1] if self.stack else None
        call: dict[str, Any] = {"path": path, "call": number, "parent": parent, "first_op": len(self.ops)}
        self.stack.append(len(self.calls))
        self.calls.append(call)
        yield call
        call["last_op"] = len(self.ops) - 1
        self.stack.pop()

    def layer(self, path: str, x: TensorRef, kind: str = "Linear", width: int = 4) -> TensorRef:
        """A module around one op with a weight."""
        with self.module(path, kind, f"{kind}{width}") as call:
            known = next((t for t in self.tensors if t.name == f"{path}.weight"), None)
            weight = self.parameter(f"{path}.weight", width, width) if known is None else TensorRef(known.id)
            y = self.op("linear", x, weight, shape=(2, width))
            call["outputs"] = (y,)
        return y

    def record(self, **more: Any) -> StepRecord:
        return StepRecord(
            model="Net",
            ops=tuple(self.ops),
            tensors=tuple(self.tensors),
            modules=tuple(self.modules.values()),
            calls=tuple(ModuleCall(**call) for call in self.calls),
            sites=tuple(self.sites),
            **more,
        )


def transformer(blocks: int = 12) -> StepRecord:
    """Blocks of a norm, three projections side by side, a product, and a residual."""
    step = Writer()
    x = step.input(2, 4)
    with step.module("", "Net"):
        x = step.layer("embed", x, "Embedding")
        for number in range(blocks):
            with step.module(f"h.{number}", "Block") as call:
                y = step.layer(f"h.{number}.norm", x, "LayerNorm")
                with step.module(f"h.{number}.attn", "Attention"):
                    q, k, v = (step.layer(f"h.{number}.attn.{name}", y) for name in ("q", "k", "v"))
                    y = step.op("scaled_dot_product_attention", q, k, v)
                x = step.op("add", x, y)
                call["outputs"] = (x,)
        step.layer("head", x)
    return step.record()
