"""What a Keras model says of itself and of its training, in our words. Nothing here imports Keras."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def fit_settings(params: Any) -> dict[str, Any]:
    """How `fit` was called: what Keras tells its callbacks."""
    if not isinstance(params, Mapping):
        return {}
    names = {"epochs": "epochs", "steps": "steps_per_epoch", "batch_size": "batch_size"}
    return {ours: params[theirs] for theirs, ours in names.items() if params.get(theirs) is not None}


def model_facts(model: Any) -> dict[str, Any]:
    """Its class and size, and its optimizer's settings."""
    facts: dict[str, Any] = {"model/name": model.name, "model/class": type(model).__name__}
    if model.built:
        facts["model/parameters"] = int(model.count_params())
        facts["model/trainable_parameters"] = sum(_size(one) for one in model.trainable_weights)
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None:
        facts |= {f"optimizer/{name}": value for name, value in _settings(optimizer).items()}
    loss = getattr(model, "loss", None)
    if loss is not None:
        facts["loss"] = loss if isinstance(loss, str) else getattr(loss, "name", None) or type(loss).__name__
    return facts


def _size(weight: Any) -> int:
    size = 1
    for length in weight.shape:
        size *= int(length)
    return size


def _settings(optimizer: Any) -> dict[str, Any]:
    given: Mapping[str, Any] = optimizer.get_config()
    kept = {name: value for name, value in given.items() if value is not None}
    kept["name"] = type(optimizer).__name__
    rate = kept.get("learning_rate")
    if isinstance(rate, Mapping) and "class_name" in rate:  # a schedule, as Keras would save it
        kept["learning_rate"] = {"schedule": rate["class_name"], **dict(rate.get("config", {}))}
    return kept


def named_logs(logs: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """`{"loss": 0.5}` as `{"train/loss": 0.5}`."""
    return {f"{prefix}{name}": value for name, value in logs.items()}


_READ_PROBABILITIES = ("sparse_categorical_crossentropy", "categorical_crossentropy", "binary_crossentropy")


def output_and_loss(model: Any) -> tuple[str, str, bool] | None:
    """The activation of a model's last layer, its loss, and whether that takes raw scores; None where it is not clear.

    `("softmax", "sparse_categorical_crossentropy", True)`: a softmax whose output is treated as raw scores.
    """
    loss = getattr(model, "loss", None)
    name = loss if isinstance(loss, str) else getattr(loss, "name", None)
    layer = _last_layer(model)
    if name not in _READ_PROBABILITIES or layer is None:
        return None
    if type(layer).__name__ == "Softmax":
        activation: Any = "softmax"
    else:
        activation = getattr(getattr(layer, "activation", None), "__name__", None)
    if not isinstance(activation, str):
        return None
    return activation, name, bool(getattr(loss, "from_logits", False))


def _last_layer(model: Any) -> Any:
    """The layer that makes the only output of a model whose layers are known (Sequential, functional)."""
    outputs = getattr(model, "outputs", None)
    if not isinstance(outputs, list | tuple) or len(outputs) != 1:
        return None
    return getattr(getattr(outputs[0], "_keras_history", None), "operation", None)
