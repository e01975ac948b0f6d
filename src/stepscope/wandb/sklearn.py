"""`wandb.sklearn`: charts of a scikit-learn model, logged to the open run. scikit-learn itself is not imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from stepscope import fence
from stepscope.wandb import plot
from stepscope.wandb.open_runs import the_run
from stepscope.wandb.tables import Table
from stepscope.wandb.wording import not_acted_on

_OTHERS = (
    "plot_calibration_curve", "plot_clusterer", "plot_decision_boundaries", "plot_elbow_curve", "plot_learning_curve",
    "plot_outlier_candidates", "plot_silhouette",
)  # fmt: skip


@fence.fenced("wandb.sklearn.plot_confusion_matrix()")
def plot_confusion_matrix(y_true: Any = None, y_pred: Any = None, labels: Any = None, **drawn: Any) -> None:
    _log({"confusion_matrix": plot.confusion_matrix(y_true=_list(y_true), preds=_list(y_pred), class_names=labels)})


@fence.fenced("wandb.sklearn.plot_roc()")
def plot_roc(y_true: Any = None, y_probas: Any = None, labels: Any = None, **drawn: Any) -> None:
    _log({"roc": plot.roc_curve(_list(y_true), y_probas, labels, drawn.get("classes_to_plot"))})


@fence.fenced("wandb.sklearn.plot_precision_recall()")
def plot_precision_recall(y_true: Any = None, y_probas: Any = None, labels: Any = None, **drawn: Any) -> None:
    _log({"precision_recall": plot.pr_curve(_list(y_true), y_probas, labels, drawn.get("classes_to_plot"))})


@fence.fenced("wandb.sklearn.plot_feature_importances()")
def plot_feature_importances(
    model: Any = None, feature_names: Any = None, title: str = "Feature Importance", max_num_features: int = 50
) -> None:
    found = getattr(model, "feature_importances_", None)
    if found is None:
        found = np.abs(np.atleast_2d(model.coef_)).mean(axis=0)
    weights = np.asarray(found, float)
    order = np.argsort(-weights)[:max_num_features]
    names = [str(one) for one in (range(len(weights)) if feature_names is None else feature_names)]
    rows = [[names[at], float(weights[at])] for at in order]
    table = Table(columns=["feature_names", "importances"], data=rows)
    _log({"feature_importances": plot.bar(table, "feature_names", "importances", title)})


@fence.fenced("wandb.sklearn.plot_class_proportions()")
def plot_class_proportions(y_train: Any = None, y_test: Any = None, labels: Any = None) -> None:
    rows = []
    for part, values in (("train", y_train), ("test", y_test)):
        for name, count in sorted(Counter(_list(values)).items(), key=str):
            rows.append([f"{_label(name, labels)} ({part})", count])
    table = Table(columns=["class", "count"], data=rows)
    _log({"class_proportions": plot.bar(table, "class", "count", "Class Proportions")})


@fence.fenced("wandb.sklearn.plot_summary_metrics()")
def plot_summary_metrics(
    model: Any = None, X: Any = None, y: Any = None, X_test: Any = None, y_test: Any = None
) -> None:
    _log({"summary_metrics/score": float(model.score(X_test, y_test))})


@fence.fenced("wandb.sklearn.plot_residuals()")
def plot_residuals(regressor: Any = None, X: Any = None, y: Any = None) -> None:
    predicted = np.asarray(regressor.predict(X), float).ravel()
    rows = [[float(a), float(b)] for a, b in zip(predicted, np.asarray(y, float).ravel() - predicted, strict=True)]
    table = Table(columns=["Predicted Value", "Residuals"], data=rows)
    _log({"residuals": plot.scatter(table, "Predicted Value", "Residuals", "Residuals")})


def plot_classifier(
    model: Any,
    X_train: Any,
    X_test: Any,
    y_train: Any,
    y_test: Any,
    y_pred: Any,
    y_probas: Any,
    labels: Any,
    is_binary: bool = False,
    model_name: str = "Classifier",
    feature_names: Any = None,
    log_learning_curve: bool = False,
) -> None:
    """All charts of a classifier."""
    if hasattr(model, "feature_importances_") or hasattr(model, "coef_"):
        plot_feature_importances(model, feature_names)
    plot_class_proportions(y_train, y_test, labels)
    plot_summary_metrics(model, X_train, y_train, X_test, y_test)
    plot_confusion_matrix(y_test, y_pred, labels)
    plot_roc(y_test, y_probas, labels)
    plot_precision_recall(y_test, y_probas, labels)


def plot_regressor(
    model: Any, X_train: Any, X_test: Any, y_train: Any, y_test: Any, model_name: str = "Regressor"
) -> None:
    """All charts of a regressor."""
    plot_summary_metrics(model, X_train, y_train, X_test, y_test)
    plot_residuals(model, X_train, y_train)


def __getattr__(name: str) -> Callable[..., None]:
    if name not in _OTHERS:
        raise AttributeError(f"wandb.sklearn has no {name!r}")

    def skipped(*args: Any, **kwargs: Any) -> None:
        not_acted_on(f"sklearn.{name}", "it refits the model many times; log the values with wandb.plot")

    return skipped


def _log(values: dict[str, Any]) -> None:
    the_run("sklearn").log(values)


def _list(values: Any) -> list[Any]:
    found: list[Any] = np.asarray(values).ravel().tolist()
    return found


def _label(value: Any, labels: Any) -> str:
    try:
        return str(value if labels is None else labels[int(value)])
    except (ValueError, IndexError, TypeError):
        return str(value)
