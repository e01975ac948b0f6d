"""A model of a metric over the runs: importances by Optuna's fANOVA, fit and effects by scikit-learn's random forest.

Each number is replaced by its rank among the runs. fANOVA averages over the whole range of a parameter, and of ranks
every part has been tried as often; a learning rate needs no logarithm, and one far-off value does not count for most.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.views.parameters.columns import ParameterColumn
from stepscope.views.parameters.rank import ranks

Floats = npt.NDArray[np.float64]

PACKAGES = {"optuna": "Optuna", "sklearn": "scikit-learn"}
_SEED = 20261115
_TREES = 64
_DEPTH = 8
"""fANOVA visits every pair of a split and a leaf: deeper trees take minutes for a thousand runs and say the same."""
_FANOVA_TREES = 32
_GRID = 24
_PARTIAL_ROWS = 80
"""Runs that an effect is averaged over."""


@dataclass(frozen=True)
class Model:
    r2: float
    """R² of the forest on out-of-bag runs; 0 or less means that it explains nothing."""
    importances: list[float]
    """One for each column: the fraction of the metric's variance that this parameter explains alone."""
    effects: list[tuple[Floats, Floats]]
    """For each column: values, and the mean prediction with all runs set to each."""


def missing_packages() -> list[str]:
    """What a model needs and is not installed."""
    return [said for name, said in PACKAGES.items() if find_spec(name) is None]


def fit(columns: Sequence[ParameterColumn], target: Floats) -> Model:
    """A model of the metric, which varies. Without importances and effects if it explains nothing."""
    from sklearn.ensemble import RandomForestRegressor

    features = [_Feature(column) for column in columns]
    rows = np.hstack([one.coded(one.rows) for one in features])
    forest = RandomForestRegressor(_TREES, min_samples_leaf=2, oob_score=True, random_state=_SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # with ten runs, a run may be in the sample of every tree
        forest.fit(rows, target)
    r2 = float(forest.oob_score_)
    if r2 <= 0:
        return Model(r2, [], [])
    return Model(r2, _fanova(features, target), _effects(forest, features, rows))


class _Feature:
    """A parameter as the models see it. A missing value is a value of its own."""

    def __init__(self, column: ParameterColumn) -> None:
        self.values = np.array([np.nan if value is None else value for value in column.values], np.float64)
        self.is_text = column.kind == "text"
        self.choices = len(column.names) + 1
        if self.is_text:
            self.rows: Floats = np.where(np.isnan(self.values), self.choices - 1, self.values)
        else:
            self.rows = ranks(np.where(np.isnan(self.values), -np.inf, self.values))
        known, places = np.unique(self.values[~np.isnan(self.values)], return_index=True)
        self.known: Floats = known
        self._of_known = self.rows[~np.isnan(self.values)][places]

    def coded(self, rows: Floats) -> Floats:
        """As columns of a table: a category has one for each name."""
        return np.eye(self.choices)[rows.astype(np.int64)] if self.is_text else rows[:, None]

    def grid(self) -> tuple[Floats, Floats]:
        """The values to evaluate the model at, and their rows: all categories, and quantiles of many numbers."""
        chosen = np.arange(len(self.known))
        if len(chosen) > _GRID and not self.is_text:
            chosen = np.unique(np.linspace(0, len(chosen) - 1, _GRID).round().astype(np.int64))
        return self.known[chosen], self._of_known[chosen]


def _fanova(features: Sequence[_Feature], target: Floats) -> list[float]:
    from stepscope.sweep.samplers import need_optuna

    optuna = need_optuna("Parameters > Importance")
    kinds = optuna.distributions
    ranges: dict[str, Any] = {
        str(at): kinds.CategoricalDistribution(range(one.choices))
        if one.is_text
        else kinds.FloatDistribution(float(one.rows.min()), float(one.rows.max()))
        for at, one in enumerate(features)
    }
    rows = zip(*(one.rows.astype(np.int64 if one.is_text else np.float64).tolist() for one in features), strict=True)
    trials = [
        optuna.trial.create_trial(params=dict(zip(ranges, row, strict=True)), distributions=ranges, value=value)
        for row, value in zip(rows, target.tolist(), strict=True)
    ]
    study = optuna.create_study()
    study.add_trials(trials)
    evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=_FANOVA_TREES, max_depth=_DEPTH, seed=_SEED)
    found = evaluator.evaluate(study)  # not get_param_importances, which divides by their sum: of noise, too
    return [float(found.get(name, 0.0)) for name in ranges]


def _effects(forest: Any, features: Sequence[_Feature], rows: Floats) -> list[tuple[Floats, Floats]]:
    """Partial dependence: a parameter at each value of its grid, all others as in the runs."""
    rows = rows[:: max(1, len(rows) // _PARTIAL_ROWS)][:_PARTIAL_ROWS]
    found, first = [], 0
    for one in features:
        values, places = one.grid()
        coded = one.coded(places)
        asked = np.tile(rows, (len(values), 1))
        asked[:, first : first + coded.shape[1]] = np.repeat(coded, len(rows), axis=0)
        expected: Floats = forest.predict(asked).reshape(len(values), len(rows)).mean(axis=1)
        found.append((values, expected))
        first += coded.shape[1]
    return found
