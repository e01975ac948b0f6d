from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name


@rule("mode.functional-dropout", severity="error")
def functional_dropout(run: Evidence) -> Iterator[Proof]:
    """A dropout function is called without telling it the mode, so it also drops values in eval mode.

    Why it matters: `F.dropout(x)` is always on; `model.eval()` does not reach it. Every evaluation is random.

    What to do: `F.dropout(x, p, training=self.training)`, or a module: `nn.Dropout(p)`.

    How it is found: it ran inside a module in eval mode and dropped values. Where `training=` is written out, that is
    taken as meant.

    Bad:
        x = F.dropout(x, 0.5)
    Good:
        x = F.dropout(x, 0.5, training=self.training)
    """
    for place, (name, _, modes) in run.forwards.dropouts.items():
        call = run.source.call(place)
        if not modes or (call is not None and _says(call)):
            continue
        evaluated = modes.count(False)
        if not evaluated and not run.over:
            continue
        attention = name == "scaled_dot_product_attention"
        yield Proof(
            where=place,
            message=f"{name} keeps dropping values in eval mode"
            if evaluated
            else f"{name} does not know the mode: it would keep dropping values in eval mode",
            label=f"drops values, though the module is in eval mode ({evaluated} calls)" if evaluated else "always on",
            evidence={"function": name, "calls_in_eval_mode": evaluated, "calls_in_training": modes.count(True)},
            edit=edits.in_method(edits.keyword(place, "training", "self.training"), place) if not attention else None,
            fix="dropout_p=p if self.training else 0.0" if attention else "add training=self.training",
            severity=None if evaluated else "info",
        )


def _says(call: ast.Call) -> bool:
    """Whether the call names the mode itself (or is not the dropout function at all but what calls it)."""
    name = called_name(call)
    if name == "scaled_dot_product_attention":
        given = next(
            (k.value for k in call.keywords if k.arg == "dropout_p"), call.args[4] if len(call.args) > 4 else None
        )
        return given is not None and "training" in ast.unparse(given)
    if any(keyword.arg in ("training", "train", None) for keyword in call.keywords):
        return True
    return len(call.args) > 2 or any(isinstance(argument, ast.Starred) for argument in call.args)
