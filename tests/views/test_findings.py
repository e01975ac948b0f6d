"""Findings as the page shows them, and the rules behind them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.errors import NotFound
from stepscope.records import Finding, FindingEvent, Related
from stepscope.views.context import Context
from stepscope.views.finding_evidence import EvidenceSeries, TellingMetrics, evidence_series, metrics_shown
from stepscope.views.findings import FindingsRequest, RuleRequest, SourceLine, findings, rule, shown_findings
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
    assert told.summary.startswith("Gradients accumulate")
    assert "optimizer.zero_grad()" in told.good
    with pytest.raises(NotFound, match="there is no rule"):
        rule(ctx, RuleRequest(rule="../../etc/passwd"))


def test_a_finding_keeps_its_permalink_while_others_come(ctx: Context, store: Path) -> None:
    first = [found("info"), found("error")]
    assert [one.id for one in shown_findings(first, "")] == ["opt.no-zero-grad:2", "opt.no-zero-grad:1"]
    later = shown_findings([*first, found("error")], "")
    assert [one.id for one in later] == ["opt.no-zero-grad:2", "opt.no-zero-grad:3", "opt.no-zero-grad:1"]


def test_the_findings_alone_say_nothing_else_of_the_run(ctx: Context, store: Path) -> None:
    run_id = write_run(
        store, "n", {"loss": [2.0, 1.0]}, events=[FindingEvent(time=1.0, finding=found())], host="h", user="ada"
    )
    told = findings(ctx, FindingsRequest(run=run_id))
    assert (told.run, told.name, [one.id for one in told.findings]) == (run_id, "n", ["opt.no-zero-grad:1"])
    assert told.findings[0].metrics == ["loss"]
    with pytest.raises(NotFound):
        findings(ctx, FindingsRequest(run="nobody"))


def test_numbers_of_the_evidence_become_lines_and_bars() -> None:
    nan, inf = float("nan"), float("inf")
    drawn = evidence_series({
        "losses": [1.0, 2, nan, -inf, 10**400],
        "gradient_to_weight": {"fc1": 0.5, "fc2": nan},
        "input_shape": [64, 3, 32, 32], "pair": [1.0, 2.0], "flags": [True, False, True],
        "all_bad": [nan, nan, nan], "nested": {"a": [1]}, "words": ["a", "b", "c"],
    })  # fmt: skip
    assert drawn == [
        EvidenceSeries("losses", [1.0, 2.0, None, None, None]),
        EvidenceSeries("gradient to weight", [0.5, None], ["fc1", "fc2"]),
    ]
    long = evidence_series({f"s{at}": [0.0] * 1000 for at in range(20)})
    assert (len(long), len(long[0].values)) == (6, 200)


@pytest.mark.parametrize(
    ("rule", "evidence", "names", "shown"),
    [
        ("grad.exploding", {}, ["train/loss", "grad_norm", "system/cpu_percent"], ["train/loss", "grad_norm"]),
        ("loss.softmax-twice", {}, ["train/loss", "grad_norm"], ["train/loss"]),
        ("opt.schedule-unused", {"lr": [0.1]}, ["lr", "acc"], ["lr"]),
        ("loss.nan", {}, ["accuracy"], []),
        ("device.batch-not-moved", {}, ["train/loss"], []),
        ("opt.x", {}, ["system/loss"], []),
    ],
)
def test_the_lines_of_the_run_that_show_a_fault(
    rule: str, evidence: dict[str, object], names: list[str], shown: list[str]
) -> None:
    assert metrics_shown(rule, evidence, TellingMetrics.among(names)) == shown
