"""Findings as the page shows them, and the rules behind them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.errors import NotFound
from stepscope.records import Finding, FindingEvent, Related
from stepscope.views.context import Context
from stepscope.views.findings import RuleRequest, SourceLine, rule, shown_findings
from stepscope.views.run import RunRequest, run

from .conftest import write_run


def found(severity: str = "error", **more: object) -> Finding:
    return Finding(rule="opt.no-zero-grad", severity=severity, message="piled up", **more)  # type: ignore[arg-type]


def test_the_gravest_come_first(ctx: Context, store: Path) -> None:
    events = [FindingEvent(time=1.0, finding=found(level)) for level in ("info", "warning", "error", "warning")]
    run_id = write_run(store, events=events, cwd="/home/ada")
    detail = run(ctx, RunRequest(run=run_id))
    assert [one.severity for one in detail.findings] == ["error", "warning", "warning", "info"]
    assert ctx.catalogue.entry(run_id).findings == 3


def test_the_line_is_taken_apart_at_what_the_finding_is_about() -> None:
    source = [(87, "loss = f(x)"), (88, "  größe.backward()  # go")]
    (shown,) = shown_findings([found(file="/p/train.py", line=88, column=8, end_column=16, source=source)], "/p")
    assert shown.lines == [SourceLine(87, "loss = f(x)"), SourceLine(88, "  größe.", "backward", "()  # go")]
    assert shown.place == "train.py:88"
    (whole,) = shown_findings([found(file="/p/train.py", line=88, source=source)], "/p")
    assert whole.lines[1] == SourceLine(88, "  ", "größe.backward()", "  # go")


def test_no_file_of_this_machine_is_ever_read_for_a_run(tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("password = 1\n")
    (shown,) = shown_findings([found(file=str(secret), line=1, related=[Related(file=str(secret), line=1)])], "")
    assert (shown.lines, shown.related[0].lines) == ([], [])


def test_evidence_stands_in_for_a_label_and_travels_as_plain_values() -> None:
    (shown,) = shown_findings([found(evidence={"grad_norm": [1.0, float("nan")], "seed": 2**60})], "")
    assert shown.seen == "grad norm 1 -> NaN, seed 1152921504606846976"
    assert shown.evidence == {"grad_norm": [1.0, "NaN"], "seed": str(2**60)}


def test_a_rule_is_explained_in_the_words_of_its_file(ctx: Context) -> None:
    told = rule(ctx, RuleRequest(rule="opt.no-zero-grad"))
    assert told.summary.startswith("Gradients pile up")
    assert "optimizer.zero_grad()" in told.good
    with pytest.raises(NotFound, match="there is no rule"):
        rule(ctx, RuleRequest(rule="../../etc/passwd"))
