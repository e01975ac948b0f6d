"""`stepscope profile` without a script to run: files of others, two runs beside each other, a running training."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import stepscope
from stepscope.cli.profile import command
from stepscope.profile.profile import profiles_in
from stepscope.profile.store import PROFILES, REQUEST

Ask = Callable[..., Result]


def trace(steps: int = 4, slow: float = 1.0) -> dict[str, object]:
    """Steps of 10 ms: 6 ms of matrix product, and 2 ms of addition inside of nothing."""
    events: list[dict[str, object]] = []
    for step in range(steps):
        at = step * 10_000 * slow
        base = {"ph": "X", "pid": 1, "tid": 1}
        events += [
            {**base, "name": f"ProfilerStep#{step}", "cat": "user_annotation", "ts": at, "dur": 10_000 * slow},
            {**base, "name": "aten::mm", "cat": "cpu_op", "ts": at + 100, "dur": 6_000 * slow + step},
            {**base, "name": "aten::add", "cat": "cpu_op", "ts": at + 8_000 * slow, "dur": 1_000.0},
        ]
    return {"traceEvents": events}


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """The command as a user types it, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str, fails: bool = False) -> Result:
        done = CliRunner().invoke(command, list(words))
        assert (done.exception is None) is not fails, done.output or done.exception
        return done

    return call


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(trace()))
    return path


def test_a_trace_becomes_a_verdict_and_a_run(ask: Ask, file: Path, tmp_path: Path) -> None:
    done = ask("--open", "a.json", "--table", "operators")
    assert "a step takes 10 ms" in done.output
    assert "aten::mm" in done.output
    assert "see it with: stepscope ui   (run a)" in done.output
    (run,) = stepscope.runs(tmp_path / "stepscope-runs")
    assert run.name == "a"
    assert [path.name for path in profiles_in(run.path)] == ["opened"]
    again = ask("--open", "a", "--table", "operators", "--sort", "name", "--rows", "1")
    assert "aten::add" in again.output
    assert "and 1 more" in again.output


def test_it_can_be_only_looked_at(ask: Ask, file: Path, tmp_path: Path) -> None:
    assert "a step takes 10 ms" in ask("--open", "--no-run", "a.json").output
    assert not (tmp_path / "stepscope-runs").exists()


def test_a_file_that_is_none_leaves_no_run(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text("not a trace")
    assert ask("--open", "b.json", fails=True).exception is not None
    assert list((tmp_path / "stepscope-runs").glob("0*")) == []


def test_all_of_it_is_for_programs_too(ask: Ask, file: Path, tmp_path: Path) -> None:
    told = json.loads(ask("--open", "--no-run", "a.json", "--json", "-").output)
    assert set(told) == {"profile", "headline", "step_ns", "advice", "answers"}
    assert told["step_ns"] == 10_000_000
    assert len(told["answers"]["operators"]["rows"]) == 2
    ask("--open", "--no-run", "a.json", "--csv", "tables", "--export", "chrome=out/trace.json", "--json", "all.json")
    assert (tmp_path / "tables" / "operators.csv").exists()
    assert json.loads((tmp_path / "out" / "trace.json").read_text())["traceEvents"]
    kept = json.loads((tmp_path / "all.json").read_text())
    assert (kept["headline"], kept["answers"]["operators"]) == (told["headline"], told["answers"]["operators"])


def test_two_traces_beside_each_other(ask: Ask, file: Path, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps(trace(slow=1.5)))
    said = ask("--diff", "a.json", "b.json").output
    assert "15" in said.splitlines()[0]
    assert "aten::mm" in said


def test_a_running_training_is_asked(ask: Ask, tmp_path: Path) -> None:
    run = stepscope.init(name="going", dir=tmp_path / "stepscope-runs", console=False, system=False, git=False)
    assert "requested a window from going" in ask("--now", "going").output
    assert run.path is not None
    assert (run.path / PROFILES / REQUEST).exists()
    run.finish()
    assert "no longer running" in str(ask("--now", "going", fails=True).exception)


@pytest.mark.parametrize(
    ("line", "target", "theirs", "paths"),
    [
        ("--steps 2:4 train.py --open x", ("file", "train.py"), ["--open", "x"], ()),
        ("-m pkg.train --diff", ("module", "pkg.train"), ["--diff"], ()),
        ("--with-stack folder --now", ("file", "folder"), ["--now"], ()),
        ("--open a.json --json - b.json", None, [], ("a.json", "b.json")),
        ("--dir runs --diff A --rows 3 B", None, [], ("A", "B")),
    ],
)
def test_options_after_the_script_are_the_scripts(
    line: str, target: object, theirs: list[str], paths: tuple[str, ...]
) -> None:
    ctx = command.make_context("profile", line.split())
    assert ctx.obj == (target, theirs)
    assert tuple(map(str, ctx.params["paths"])) == paths


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--diff", "a.json"], "--diff needs two"),
        (["--now"], "--now needs the run"),
        (["--open", "--diff", "a.json", "b.json"], "give one of them"),
        (["--open", "nowhere.json"], "no file or run 'nowhere.json'"),
        (["--open", "--table", "nonsense", "a.json"], "there is no analysis 'nonsense'"),
        (["--open", "--no-run", "a.json", "--table", "kernels"], "no data for the table 'kernels'"),
        (["--open", "--no-run", "a.json", "--sort", "nonsense"], "no column 'nonsense'"),
        (["--export", "word", "train.py"], "'word' is not known"),
        (["--steps", "9:3", "train.py"], "not a range of steps"),
        (["--on-signal", "TERM", "train.py"], "USR2"),
        (["--no-run", "train.py"], "--no-run goes with --open"),
        (["trace.json.gz"], "trace.json.gz is a trace, not a script; read it with: stepscope profile --open"),
        (["--fast-dev-run", "train.py"], "use --max-steps"),
        ([], "no script was given"),
    ],
)
def test_mistakes_are_explained(ask: Ask, file: Path, tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "train.py").write_text("print('never run')")
    done = ask(*words, fails=True)
    assert said in str(done.exception)
    assert "never run" not in done.output
