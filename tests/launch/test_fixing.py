"""What `stepscope fix` calls proved, and what its copies are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stepscope.launch.fixing.compare import Difference, is_better
from stepscope.launch.fixing.version import VersionRun
from stepscope.launch.fixing.workspace import copied
from stepscope.records import Edit, Finding, Severity, TextChange

ROOT = Path(__file__).resolve().parents[2]


def found(rule: str, line: int = 10, severity: Severity = "error") -> Finding:
    return Finding(rule=rule, severity=severity, message="", file="/copy/train.py", line=line)


def run(*findings: Finding, exit_code: int = 0, losses: tuple[float, ...] = (), steps: int = 0) -> VersionRun:
    return VersionRun(findings=list(findings), exit_code=exit_code, losses=list(losses), steps=steps)


EDIT = Edit(changes=[TextChange(file="/copy/train.py", line=4, old=[], new=["a", "b", "c"])])
FINDING = found("opt.no-zero-grad")
STUCK = "the script still fails, as early as before"


@pytest.mark.parametrize(
    ("before", "after", "why_not"),
    [
        (run(FINDING), run(), ""),
        (run(FINDING), run(found("opt.no-zero-grad", 13)), "the finding is still there"),
        (run(), run(), "the finding was not seen in these steps; try more with --steps"),
        (run(FINDING), run(found("num.log-zero")), "it brings num.log-zero at train.py:10"),
        (run(FINDING), run(found("num.log-zero", severity="info")), ""),
        (run(FINDING), run(exit_code=1), "the edited script fails"),
        (run(FINDING, exit_code=1), run(found("num.log-zero", 30), exit_code=1, steps=5), ""),
        (run(FINDING, exit_code=1), run(found("num.log-zero", 30), exit_code=1), STUCK),
        (
            run(FINDING, exit_code=1),
            run(found("num.log-zero", 13), exit_code=1),
            "it brings num.log-zero at train.py:13",
        ),
        (run(FINDING, exit_code=1), run(found("opt.no-zero-grad", 40), exit_code=1, steps=9), ""),
        (run(FINDING), run(found("opt.no-zero-grad", 40)), "it brings opt.no-zero-grad at train.py:40"),
    ],
)
def test_a_fix_is_proved_when_the_finding_is_gone_and_nothing_is_new(
    before: VersionRun, after: VersionRun, why_not: str
) -> None:
    assert Difference(FINDING, EDIT, before, after).why_not == why_not


def test_what_the_finding_had_explained_away_is_uncovered_not_new() -> None:
    told = Difference(FINDING, EDIT, run(FINDING), run(found("opt.lr-too-high")))
    assert (told.proved, told.new, told.uncovered) == (True, [], ["opt.lr-too-high at train.py:10"])


def test_a_loss_that_is_not_a_number_is_the_worst() -> None:
    assert is_better(run(losses=(3.0,)), run(losses=(float("nan"),)))
    assert not is_better(run(), run(losses=(9.0,)))


def test_the_copy_has_the_users_files_and_leads_back_to_them(tmp_path: Path) -> None:
    script = tmp_path / "project" / "src" / "train.py"
    script.parent.mkdir(parents=True)
    script.write_text("x = 1\n")
    (tmp_path / "project" / ".git").mkdir()
    (tmp_path / "project" / "data.bin").write_bytes(bytes(5 << 20))
    with copied(script.parent, tmp_path / "project") as space:
        inside = Path(space.inside(script))
        assert inside.read_text() == "x = 1\n"
        inside.write_text("x = 2\n")
        assert space.outside(inside) == str(script)
        large = Path(space.inside(tmp_path / "project" / "data.bin"))
        assert large.is_symlink()
        assert sorted(path.name for path in large.parent.iterdir()) == ["data.bin", "src"]
    assert script.read_text() == "x = 1\n"
    assert not inside.exists()


def test_the_edit_of_a_corpus_script_is_proved_by_running_it() -> None:
    sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests" / "corpus")]
    try:
        import fixes
        import runner
    finally:
        del sys.path[:2]
    entry = next(one for one in runner.truth() if one.script == "opt/no_zero_grad_digits_mlp.py")
    row = fixes.judge(entry, 200)
    assert row is not None
    assert (row["proved"], row["finding"], row["new"]) == (True, "gone", [])
    assert row["loss"][1] < row["loss"][0]
