from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from stepscope.diagnose.array_story import binding_of
from stepscope.diagnose.data_sources import loader_call, names_in
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.samples_again import labels_again
from stepscope.diagnose.source import called_name
from stepscope.events.pristine import raw
from stepscope.record.watch.deliveries import Delivery
from stepscope.record.watch.loaders import Loader
from stepscope.records.step import Site


@rule("data.sampler-weights", severity="warning", needs="steps, end")
def sampler_weights(run: Evidence) -> Iterator[Proof]:
    """The sampler draws frequent classes even more often than they are.

    Why it matters: weights are meant to bring rare classes up. Weighted by their frequency instead of its inverse, rare
    classes are all but gone from training.

    What to do: weight each sample by one over the count of its class: `weights = 1.0 / counts[labels]`.

    How it is found: the labels of the dataset beside the weights of its `WeightedRandomSampler`, and the labels that
    really came: the frequent class has more than its share.

    Bad:
        weights = counts[labels]
    Good:
        weights = 1.0 / counts[labels]
    """
    for delivery in run.deliveries.all:
        fact = delivery.loader
        drawn = Counter(label for batch in delivery.labels for label in batch)
        if fact.sampler != "WeightedRandomSampler" or not run.batches.trains_on(fact) or sum(drawn.values()) < 40:
            continue
        own = _own_labels(delivery)
        if own is None and run.over:
            own = labels_again(run, delivery)
        if own is None or len(own) < 2:
            continue
        (most, many), (least, few) = own.most_common()[0], own.most_common()[-1]
        if many < 1.2 * few:
            continue
        total, all_drawn = sum(own.values()), sum(drawn.values())
        was, now = many / total, drawn[most] / all_drawn
        rare_was, rare_now = few / total, drawn[least] / all_drawn
        if now <= was + 0.25 * (1 - was) or rare_now >= rare_was:
            continue
        yield Proof(
            where=_weights_line(run, fact) or fact.made,
            message=f"the sampler favours the frequent class: {most} is {was:.0%} of the data and {now:.0%} of what is "
            f"drawn, {least} is {rare_was:.1%} and {rare_now:.1%}",
            label="weights grow with the frequency of the class",
            evidence={"in_dataset": dict(own.most_common(10)), "drawn": dict(drawn.most_common(10))},
            fix="weight by the inverse of the count of each class: 1.0 / counts[labels]",
            related=[(fact.made, "the loader")],
        )


def _own_labels(delivery: Delivery) -> Counter[int] | None:
    """How often each class is in the dataset itself."""
    loader = delivery.loader.loader
    dataset = delivery.dataset if delivery.dataset is not None else getattr(loader, "dataset", None)
    indices: list[int] | None = None
    while dataset is not None and hasattr(dataset, "indices") and hasattr(dataset, "dataset"):
        chosen = list(dataset.indices)
        indices = chosen if indices is None else [chosen[i] for i in indices]
        dataset = dataset.dataset
    if dataset is None:
        return None
    seen = {label for batch in delivery.labels for label in batch}
    held = [*getattr(dataset, "tensors", ()), *vars(dataset).values()]
    for values in reversed(held):
        labels = _as_labels(values, len(dataset))
        if labels is not None and seen <= set(labels) and len(set(labels)) <= max(50, 2 * len(seen)):
            return Counter(labels if indices is None else [labels[i] for i in indices])
    return None


def _as_labels(values: Any, size: int) -> list[int] | None:
    if not hasattr(values, "__len__") or isinstance(values, (str, dict)) or len(values) != size or size > 10**6:
        return None
    try:
        tensor = raw.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):  # a list of other things
        return None
    if tensor.numel() != size or tensor.device.type != "cpu":
        return None
    flat = raw.detach(tensor).reshape(-1)
    if flat.is_floating_point() and not bool((flat == flat.round()).all()):
        return None
    labels: list[int] = raw.tolist(raw.to(flat, torch.int64))
    return labels


def _weights_line(run: Evidence, fact: Loader) -> Site | None:
    """The statement that made the weights."""
    made = loader_call(run, fact)
    if made is None:
        return None
    file = made[0]
    for call in file.walk(ast.Call):
        if called_name(call) != "WeightedRandomSampler" or not (call.args or call.keywords):
            continue
        weights = call.args[0] if call.args else call.keywords[0].value
        for name in names_in(weights):
            binding = binding_of(file, name, call)
            if binding is not None and binding.value is not None:
                return binding.site
        return file.site(call)
    return None
