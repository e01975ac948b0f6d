"""Sees who may look at whom: the masks of softmaxes, of scaled_dot_product_attention, of torch's own layers."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.attention import Attention, Masking
from stepscope.record.observers.fetch import can_fetch, here
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.value_sample import can_look

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_LOOKS = 4
_LARGEST = 2**21
_HIDDEN = -1000.0
_EXTRA = 2
_LAYERS = {
    "MultiheadAttention": ("attn_mask", "key_padding_mask"),
    "TransformerEncoder": ("mask", "src_key_padding_mask"),
    "TransformerEncoderLayer": ("src_mask", "src_key_padding_mask"),
    "TransformerDecoder": ("tgt_mask", "tgt_key_padding_mask"),
    "TransformerDecoderLayer": ("tgt_mask", "tgt_key_padding_mask"),
    "Transformer": ("tgt_mask", "tgt_key_padding_mask"),
}


class AttentionObserver(Observer, Attention):
    ops: ClassVar[frozenset[str]] = frozenset({"softmax", "scaled_dot_product_attention"})

    def __init__(self, watcher: Watcher) -> None:
        Attention.__init__(self)
        super().__init__(watcher)
        self._by_place: dict[Any, Masking] = {}
        self._words: dict[type, list[str]] = {}

    def op(self, call: Call) -> None:
        if call.visit is not None and _is_layer(call.visit):
            return
        if call.name == "softmax":
            self._softmax(call)
        else:
            self._fused(call)

    def _at(self, kind: str, place: Place | None, visit: Visit | None) -> Masking:
        key = (kind, place)
        found = self._by_place.get(key)
        if found is None:
            found = self._by_place[key] = Masking(kind, place, visit)
            if len(self.all) < 200:
                self.all.append(found)
        found.calls += 1
        return found

    def _softmax(self, call: Call) -> None:
        scores = call.inputs[0]
        if scores.dim() < 2 or not can_look(scores) or scores.numel() > _LARGEST or call.visit is None:
            return
        axis = call.argument(1, "dim")
        if not isinstance(axis, int) or axis % scores.dim() != scores.dim() - 1:
            return
        found = self._at("softmax", call.place, call.visit)
        if found.looks < _LOOKS:
            found.mask = call.origins[0]
            with quietly():
                self._look(found, here(scores) <= _HIDDEN, scores.shape[0])

    def _fused(self, call: Call) -> None:
        query, key = call.argument(0, "query"), call.argument(1, "key")
        if query is None or key is None or not can_look(query):
            return
        found = self._at(call.name, call.place, call.visit)
        if found.looks >= _LOOKS:
            return
        mask = call.argument(3, "attn_mask")
        shape = (query.shape[-2], key.shape[-2])
        if mask is not None and not _can_read(mask):
            return
        with quietly():
            if call.argument(5, "is_causal"):
                hidden = raw.ones(shape, dtype=torch.bool, device="cpu").triu(1)
            elif mask is None:
                hidden = raw.zeros(shape, dtype=torch.bool, device="cpu")
            else:
                found.mask = self.watcher.tensor_history.of(mask)
                hidden = ~here(mask) if mask.dtype == torch.bool else here(mask) <= _HIDDEN
                hidden = hidden.expand(*hidden.shape[:-2], *shape) if hidden.dim() > 1 else hidden.expand(shape)
            self._look(found, hidden, query.shape[0] if hidden.dim() > 2 else 0)

    # Torch's own layers

    def module_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        inside = visit.parent is not None and _is_layer(visit.parent)
        if not inside and type(module).__name__ in _LAYERS and type(module).__module__.startswith("torch.nn"):
            self._layer(visit, module, args, kwargs)

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        if self.watcher.tensor_history.on:
            self.module_done(visit, module, args, kwargs, result)

    def _layer(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        kind = type(module)
        words = self._words.get(kind)
        if words is None:
            words = self._words[kind] = [name for name in inspect.signature(kind.forward).parameters if name != "self"]
        given = dict(zip(words, args, strict=False)) | kwargs
        rows = next((value for value in given.values() if isinstance(value, torch.Tensor)), None)
        found = self._at(kind.__name__, visit.place, visit)
        if rows is None or not can_look(rows) or rows.dim() != 3 or found.looks >= _LOOKS:
            return
        of_steps, of_keys = (given.get(name) for name in _LAYERS[kind.__name__])
        if not all(_can_read(mask) for mask in (of_steps, of_keys) if isinstance(mask, torch.Tensor)):
            return
        batch_first = _is_batch_first(module)
        steps, batch = (rows.shape[1], rows.shape[0]) if batch_first else (rows.shape[0], rows.shape[1])
        with quietly():
            self._masks(found, given, of_steps, of_keys, steps, batch)

    def _masks(self, found: Masking, given: Any, of_steps: Any, of_keys: Any, steps: int, batch: int) -> None:
        found.looks += 1
        found.size = (steps, steps)
        if isinstance(of_steps, torch.Tensor):
            found.mask = self.watcher.tensor_history.of(of_steps)
            hidden = _hidden(of_steps)
            if hidden.dim() == 3:
                hidden = hidden.all(0)
            found.patterns.append(self._pattern(found, hidden))
        else:
            told = bool(given.get("is_causal") or given.get("tgt_is_causal"))
            found.patterns.append("causal" if told else "none")
        if isinstance(of_keys, torch.Tensor):
            found.mask = self.watcher.tensor_history.of(of_keys)
            found.pads.append(self._padding(_hidden(of_keys), batch))

    # What a mask hides: True where a query must not look at a key

    def _look(self, found: Masking, hidden: Any, batch: int) -> None:
        found.looks += 1
        found.size = (int(hidden.shape[-2]), int(hidden.shape[-1]))
        queries, keys = found.size
        square = hidden.reshape(-1, queries, keys)
        always = square.all(0)
        found.patterns.append(self._pattern(found, always))
        if hidden.dim() == 2 and queries == batch:  # scores of one query for each sample
            found.pads.append(self._padding(hidden, batch))
        elif hidden.dim() > 2 and hidden.shape[0] == batch:
            by_key = hidden.all(-2)
            while by_key.dim() > 2:
                by_key = by_key.all(1)
            found.pads.append(self._padding(by_key, batch))
        if queries == keys and _hides_itself(always):
            found.hides_itself += 1

    def _pattern(self, found: Masking, hidden: Any) -> str:
        if not bool(raw.item(hidden.any())):
            return "none"
        queries, keys = hidden.shape
        if queries != keys or queries < 3:
            return "other"
        all_ = raw.ones_like(hidden)
        for ahead in range(min(keys - 1, 8)):
            if raw.equal(hidden, all_.triu(1 + ahead)):
                found.ahead = ahead
                return "ahead" if ahead else "causal"
        if raw.equal(hidden, all_.tril(-1)) or raw.equal(hidden, all_.tril(0)):
            return "future"
        return "other"

    def _padding(self, hidden: Any, batch: int) -> str:
        """Set beside the padding of the batch: does the mask hide it, or all but it?"""
        if hidden.dim() != 2 or hidden.shape[0] != batch:
            return "ignored"
        for pads in self.watcher.sequences.pads:
            mask = pads.mask
            more = hidden.shape[1] - mask.shape[1]  # a token for the whole sequence, in front or behind
            if mask.shape[0] != batch or not 0 <= more <= _EXTRA or not _differs(mask):
                continue
            for part in (hidden[:, more:], hidden[:, : mask.shape[1]]):
                if raw.equal(part, mask):
                    return "hidden"
                if raw.equal(part, ~mask):
                    return "shown"
        return "ignored"


def _differs(mask: Any) -> bool:
    return bool(raw.item(mask.any())) and not bool(raw.item(mask.all()))


def _can_read(mask: Any) -> bool:
    return can_fetch(mask) and (mask.device.type == "cpu" or mask.numel() <= _LARGEST)


def _hidden(mask: Any) -> Any:
    return here(mask) if mask.dtype == torch.bool else here(mask) <= _HIDDEN


def _is_layer(visit: Visit) -> bool:
    return visit.type in _LAYERS


def _is_batch_first(module: Any) -> bool:
    parts = (part for part in module.modules() if isinstance(part, torch.nn.MultiheadAttention))
    return bool(getattr(next(parts, None), "batch_first", False))


def _hides_itself(hidden: Any) -> bool:
    return (
        bool(raw.item(hidden.diagonal().all()))
        and 1.5 / hidden.shape[0] < float(raw.item(raw.float(hidden).mean())) < 0.5
    )
