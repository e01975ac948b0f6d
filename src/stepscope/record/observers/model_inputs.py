"""Looks at the values with which data meets the first weights of a model, after all scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from stepscope.evidence.model_inputs import ModelInput, ModelInputs
from stepscope.evidence.origins import PARAMETER
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.value_sample import Allowance, can_look, look_at

if TYPE_CHECKING:
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_LOOKS = 5
_PRODUCTS = frozenset({"matmul", "mm", "addmm", "baddbmm", "bmm"})


class ModelInputObserver(Observer, ModelInputs):
    ops: ClassVar[frozenset[str]] = frozenset(
        {"linear", "conv1d", "conv2d", "conv3d", "lstm", "gru", "rnn_tanh", "rnn_relu", *_PRODUCTS, "batch_norm",
         "layer_norm", "group_norm", "instance_norm"}
    )  # fmt: skip

    def __init__(self, watcher: Watcher) -> None:
        ModelInputs.__init__(self)
        super().__init__(watcher)
        self._by_place: dict[Any, ModelInput] = {}
        self._allowance = Allowance(0.2)

    def op(self, call: Call) -> None:
        if call.name.endswith("norm"):
            self._normalised(call)
            return
        if len(call.inputs) < 2:
            return
        tensor, origin = call.inputs[0], call.origins[0]
        if call.name == "addmm" and len(call.inputs) > 2:
            tensor, origin = call.inputs[1], call.origins[1]
        if origin.tags & PARAMETER or tensor.requires_grad or not tensor.is_floating_point():
            return
        if call.name in _PRODUCTS and not any(other.tags & PARAMETER for other in call.origins):
            return
        key = (call.place, None if call.visit is None else call.visit.path)
        entrance = self._by_place.get(key)
        if entrance is None:
            if len(self.all) >= 60:
                return
            entrance = self._by_place[key] = ModelInput(call.name, call.place, call.visit, origin)
            self.all.append(entrance)
        entrance.calls += 1
        if len(entrance.looks) < _LOOKS and can_look(tensor) and self._allowance.left():
            with self._allowance:
                entrance.looks.append(look_at(tensor))

    def _normalised(self, call: Call) -> None:
        made = call.origins[0] if call.origins else None
        if made is None or not made.inputs:
            return
        entrance = self._by_place.get((made.place, None if made.visit is None else made.visit.path))
        if entrance is not None:
            entrance.normalised_next = True
