"""What a Hugging Face Trainer says of itself, in our words: settings, the model, and the names of its metrics.

Nothing here imports transformers: all of it is read from objects the script has made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OURS_TOO = frozenset(("train/loss", "train/grad_norm", "train/learning_rate"))
"""Of every step from the pulse; the Trainer's are means over its logging steps, and get its name before theirs."""

_RUNTIME = "_runtime"
_MANY = 400
"""Settings of one model beyond this are left out: a config may hold whole label lists."""


def settings_of(args: Any) -> dict[str, Any]:
    """The training arguments that have a value."""
    given: Mapping[str, Any] = args.to_dict()
    kept = {name: value for name, value in given.items() if value is not None and not name.startswith("_")}
    return {name: value for name, value in kept.items() if not name.endswith("_token")}


def model_facts(model: Any) -> dict[str, Any]:
    """The model's class, its size, and the part of its config that is about this architecture, under `model/`."""
    model = getattr(model, "module", model)  # DataParallel and its kin
    facts: dict[str, Any] = {"model/class": type(model).__name__}
    parameters = list(model.parameters())
    facts["model/parameters"] = sum(one.numel() for one in parameters)
    facts["model/trainable_parameters"] = sum(one.numel() for one in parameters if one.requires_grad)
    for name, value in list(_config_of(model).items())[:_MANY]:
        facts.setdefault(f"model/{name}", value)
    adapters = getattr(model, "peft_config", None)
    if isinstance(adapters, Mapping):
        facts |= {f"peft/{name}": one.to_dict() for name, one in adapters.items() if hasattr(one, "to_dict")}
    return facts


def _config_of(model: Any) -> dict[str, Any]:
    """Its config without what every model has: generation defaults, label maps and the like."""
    config = getattr(model, "config", None)
    if config is None or not hasattr(config, "to_dict"):
        return dict(config) if isinstance(config, Mapping) else {}
    usual = _usual(type(config))
    values: Mapping[str, Any] = config.to_dict()
    return {
        name: value
        for name, value in values.items()
        if value is not None and not name.startswith("_") and not (name in usual and usual[name] == value)
    }


def _usual(kind: type) -> Mapping[str, Any]:
    """The defaults of the class that all configs descend from."""
    base = next((one for one in reversed(kind.__mro__) if hasattr(one, "to_dict")), None)
    return {} if base is None or base is kind else base().to_dict()


def beside_ours(series: Mapping[str, Any]) -> dict[str, Any]:
    """The Trainer's values under names that stand beside those of the pulse in one run.

    >>> beside_ours({"train/loss": 0.5, "eval/loss": 0.4})
    {'transformers/loss': 0.5, 'eval/loss': 0.4}
    """
    return {
        f"transformers/{name.removeprefix('train/')}" if name in _OURS_TOO else name: value
        for name, value in series.items()
    }


def _stage(prefix: str) -> str:
    """Several evaluation sets have a name each: `eval_german_loss` is `eval/german_loss`."""
    return next((stage for stage in ("eval", "test") if prefix.startswith(f"{stage}_")), prefix)


def named_metrics(logs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """One `Trainer.log` as series for the step, and as summary values of the whole training.

    >>> named_metrics({"loss": 0.5, "learning_rate": 1e-3, "epoch": 1.0})
    ({'train/loss': 0.5, 'train/learning_rate': 0.001, 'train/epoch': 1.0}, {})
    >>> named_metrics({"eval_loss": 0.4, "eval_runtime": 2.0, "epoch": 1.0})
    ({'eval/loss': 0.4, 'eval/runtime': 2.0}, {})
    >>> named_metrics({"train_loss": 0.3, "train_runtime": 9.0, "total_flos": 1e9, "epoch": 3.0})
    ({}, {'train_loss': 0.3, 'train_runtime': 9.0, 'total_flos': 1000000000.0})
    """
    # Whoever evaluates chooses the prefix, and a runtime is always among the results.
    prefixes = {str(name)[: -len(_RUNTIME)] for name in logs if str(name).endswith(_RUNTIME)}
    is_end = prefixes == {"train"} and "loss" not in logs
    prefixes = {_stage(one) for one in prefixes - {"train"}} or {"eval", "test"}
    series: dict[str, Any] = {}
    overall: dict[str, Any] = {}
    for name, value in logs.items():
        name = str(name)
        prefix = max((one for one in prefixes if name.startswith(f"{one}_")), key=len, default=None)
        if prefix is not None:
            series[f"{prefix}/{name[len(prefix) + 1 :]}"] = value
        elif is_end:
            overall[name] = value
        else:
            series[f"train/{name.removeprefix('train_')}"] = value
    if any(not name.startswith("train/") for name in series):
        series.pop("train/epoch", None)  # said with the training's own numbers
    overall.pop("epoch", None)
    return series, overall
