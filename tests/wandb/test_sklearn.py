"""`wandb.sklearn` logs the charts of a model that scikit-learn has made, and of anything that looks like one."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest


class Model:
    feature_importances_ = (0.2, 0.7, 0.1)

    def score(self, X: Any, y: Any) -> float:
        return 0.75

    def predict(self, X: Any) -> list[float]:
        return [1.0, 2.0]


def test_a_classifier_leaves_its_charts_in_the_run(wandb: ModuleType, last: Callable[[], Any]) -> None:
    probabilities = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]]
    with wandb.init(project="charts"):
        wandb.sklearn.plot_classifier(
            Model(), None, None, [0, 1, 1], [0, 1, 1, 1], [0, 1, 0, 1], probabilities, ["cat", "dog"]
        )
        wandb.sklearn.plot_residuals(Model(), None, [1.5, 1.5])
        wandb.sklearn.plot_learning_curve(Model(), None, None)
    charts = {each.key for each in last().media()}
    assert {"confusion_matrix", "roc", "precision_recall", "feature_importances", "class_proportions"} <= charts
    assert "residuals" in charts
    assert last().summary["summary_metrics/score"] == 0.75


def test_names_that_annotations_and_handlers_use_are_there(wandb: ModuleType) -> None:
    assert wandb.data_types.WBValue
    assert issubclass(wandb.errors.WandbCoreNotAvailableError, wandb.Error)
    with pytest.raises(AttributeError):
        wandb.sklearn.plot_nonsense  # noqa: B018
