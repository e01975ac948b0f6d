from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from stepscope.diagnose.array_provenance import binding_of
from stepscope.diagnose.data_sources import loader_call, names_in
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name
from stepscope.evidence.loaders import Loader
from stepscope.records.step import Site


@rule("data.sampler-weights", severity="warning", needs="steps, end")
def sampler_weights(run: Evidence) -> Iterator[Proof]:
    """The sampler draws frequent classes even more often, or draws only a few rows of the data.

    Why it matters: weights are meant to bring rare classes up. Weighted by their frequency instead of its inverse, rare
    classes are all but gone from training. With one weight per class instead of one per sample, only the first few rows
    are ever drawn.

    What to do: weight each sample by one over the count of its class: `weights = 1.0 / counts[labels]`.

    How it is found: the labels of the dataset beside the weights of its `WeightedRandomSampler`, and the labels that
    really came: the frequent class has more than its share. Or the sampler has far fewer weights than the dataset has
    rows.

    Bad:
        weights = counts[labels]
    Good:
        weights = 1.0 / counts[labels]
    """
    yield from _few_weights(run)
    for delivery in run.loader_output.all:
        fact = delivery.loader
        drawn = Counter(label for batch in delivery.labels for label in batch)
        if fact.sampler != "WeightedRandomSampler" or not run.batches.trains_on(fact) or sum(drawn.values()) < 40:
            continue
        own = Counter(delivery.own_labels)
        if len(own) < 2:
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
            message=f"the sampler favors the frequent class: {most} is {was:.0%} of the data and {now:.0%} of what is "
            f"drawn, {least} is {rare_was:.1%} and {rare_now:.1%}",
            label="weights increase with the frequency of the class",
            evidence={"in_dataset": dict(own.most_common(10)), "drawn": dict(drawn.most_common(10))},
            fix="weight by the inverse of the count of each class: 1.0 / counts[labels]",
            related=[(fact.made, "the loader")],
        )


def _few_weights(run: Evidence) -> Iterator[Proof]:
    for delivery in run.loader_output.all:
        fact, weights = delivery.loader, delivery.weights
        if weights is None or 2 * weights > delivery.rows or not run.batches.trains_on(fact):
            continue
        yield Proof(
            where=_sampler_line(run, fact) or fact.made,
            message=f"the sampler has {weights} weights for {delivery.rows:,} rows: only the first {weights} are drawn",
            label="it needs one weight per sample, not per class",
            evidence={"weights": weights, "rows": delivery.rows},
            fix="give it the weight of each sample's class: class_weights[labels]",
            related=[(fact.made, "the loader")],
        )


def _sampler_line(run: Evidence, fact: Loader) -> Site | None:
    """Where the sampler was made: the only one in the file of its loader."""
    made = loader_call(run, fact)
    calls = [] if made is None else [c for c in made[0].walk(ast.Call) if called_name(c) == "WeightedRandomSampler"]
    return made[0].site(calls[0]) if made is not None and len(calls) == 1 else None


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
