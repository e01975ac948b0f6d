"""The same as `wandb.sklearn`."""

from stepscope.wandb.sklearn import (
    plot_class_proportions,
    plot_classifier,
    plot_confusion_matrix,
    plot_feature_importances,
    plot_precision_recall,
    plot_regressor,
    plot_residuals,
    plot_roc,
    plot_summary_metrics,
)

__all__ = [
    "plot_class_proportions",
    "plot_classifier",
    "plot_confusion_matrix",
    "plot_feature_importances",
    "plot_precision_recall",
    "plot_regressor",
    "plot_residuals",
    "plot_roc",
    "plot_summary_metrics",
]
