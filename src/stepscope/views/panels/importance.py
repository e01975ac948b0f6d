"""Which parameter matters most for the runs' outcome."""

from __future__ import annotations

from stepscope.views.panels._asked import keys_of, need_keys
from stepscope.views.panels.parallel import alone
from stepscope.views.parameters.importance import importance
from stepscope.views.parameters.parameters import ParametersRequest
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures

_VERDICTS = {
    "sound": "",
    "few": "Too few runs for a model: only correlations are given.",
    "nothing": "The model explains nothing of the metric: only correlations are given.",
    "missing": "Only correlations are given: importance needs Optuna and scikit-learn, pip install 'stepscope[sweep]'.",
    "none": "The runs have no common metric, or no parameter differs between them.",
}


class ImportanceOptions(Options, kw_only=True):
    metric: str = ""
    """The metric to explain; by default the runs' main metric."""


def check(bound: Bound) -> None:
    if bound.options.metric:
        need_keys(bound, [bound.options.metric], keys_of(bound), "metric")


def request(bound: Bound) -> ParametersRequest:
    return ParametersRequest(runs=bound.runs, metric=bound.options.metric)


def pack(bound: Bound, packing: Packing) -> None:
    asked = request(bound)
    packing.ask("POST /api/parameters", asked, alone, ("runs", "metric", "metrics"))
    packing.ask("POST /api/importance", asked, None, ("runs", "metric"))


def write(bound: Bound, out: Pictures) -> str:
    found = importance(bound.ctx, request(bound))
    rows = [[one.label, one.importance, one.correlation] for one in found.parameters]
    table = out.table(["parameter", "importance", "correlation"], rows, {1, 2})
    said = [f"For {found.metric} over {found.runs} runs." if found.metric else "", _VERDICTS[found.verdict]]
    return " ".join(one for one in said if one) + "\n\n" + table


PANEL = PanelKind("importance", "Which parameter matters for the outcome", ImportanceOptions, pack, write, check)
