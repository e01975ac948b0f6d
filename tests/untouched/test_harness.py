"""The comparison itself: what counts as a difference, and what is Stepscope's own to say."""

from __future__ import annotations

from collections.abc import Callable

from .harness import Done, differences

FINDING = "/tmp/train.py:12:5-9: warning: gradients pile up [opt.no-zero-grad]"
VERDICT = "stepscope check train.py: 1 doubt\n  tried        5 training steps\n               all numbers stay finite"


def done(out: str = "", err: str = "", code: int = 0, **state: object) -> Done:
    return Done(code, 0.0, out, err, {"function modes": 0, **state})


def test_our_findings_and_verdict_are_no_difference() -> None:
    assert differences(done(err="mine\n"), done(err=f"{FINDING}\nmine\n{VERDICT}\n"), "check") == []


def test_a_fault_of_ours_is_a_difference() -> None:
    found = differences(
        done(), done(err="stepscope: following an op failed and was skipped; training continues"), "run"
    )
    assert found == ["stderr: + stepscope: following an op failed and was skipped; training continues"]


def test_a_warning_that_appears_or_is_lost_is_a_difference() -> None:
    warning = "/tmp/train.py:3: UserWarning: old"
    assert differences(done(), done(err=warning), "run") == [f"stderr: + {warning}"]
    assert differences(done(err=warning), done(), "run") == [f"stderr: - {warning}"]


def test_the_report_of_profile_is_cut_out_wherever_atexit_prints() -> None:
    plain, report = done(out="1\n2\nbye\n"), "80% of each step is forward\nsee it with: stepscope ui\n"
    assert differences(plain, done(out=f"1\n2\n{report}bye\n"), "profile") == []
    assert differences(plain, done(out=f"1\n3\n{report}bye\n"), "profile") != []
    assert differences(plain, done(out=f"1\n2\n{report}bye\n"), "run") != []


def test_exit_codes_and_states_are_compared() -> None:
    found = differences(done(), done(code=1, **{"function modes": 1}), "run")
    assert found == ["exit code 0 became 1", "function modes: 0 became 1"]


def test_plain_twice_is_the_same(run_script: Callable[[str, str], Done], fresh_run: Callable[[str, str], Done]) -> None:
    assert differences(run_script("train_mlp", "plain"), fresh_run("train_mlp", "plain"), "plain") == []
