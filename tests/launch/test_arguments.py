"""Options before the script are ours, everything after it is the script's."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from stepscope.cli._launch import misplaced, options_from, split_arguments
from stepscope.cli.run import command
from stepscope.errors import NotFound, UsageError
from stepscope.launch.options import Amount
from stepscope.launch.script import find_module, find_script


@pytest.mark.parametrize(
    ("line", "ours", "target", "theirs"),
    [
        ("train.py --epochs 5", [], ("file", "train.py"), ["--epochs", "5"]),
        ("--max-steps 3 train.py --max-steps 9", ["--max-steps", "3"], ("file", "train.py"), ["--max-steps", "9"]),
        ("--fast-dev-run train.py", ["--fast-dev-run=1"], ("file", "train.py"), []),
        ("--fast-dev-run 4 train.py", ["--fast-dev-run", "4"], ("file", "train.py"), []),
        ("--fast-dev-run=4 train.py", ["--fast-dev-run=4"], ("file", "train.py"), []),
        ("--debugpy -m pkg.train -m x", ["--debugpy=5678"], ("module", "pkg.train"), ["-m", "x"]),
        ("-m pkg.train --help", [], ("module", "pkg.train"), ["--help"]),
        ("-- --odd.py -q", [], ("file", "--odd.py"), ["-q"]),
        ("--eager", ["--eager"], None, []),
    ],
)
def test_where_ours_end(line: str, ours: list[str], target: tuple[str, str] | None, theirs: list[str]) -> None:
    assert split_arguments(command, line.split()) == (ours, target, theirs)


def test_amounts_become_limits() -> None:
    options = options_from({"limit_train_batches": "10%", "limit_val_batches": "3", "max_steps": 5, "eager": True})
    assert options.limits.train_batches == Amount(share=0.1)
    assert options.limits.val_batches == Amount(count=3)
    assert (options.limits.max_steps, options.switches.eager) == (5, True)
    with pytest.raises(UsageError, match=r"--limit-test-batches '2.5' is neither"):
        options_from({"limit_test_batches": "2.5"})


def test_a_script_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("")
    with pytest.raises(NotFound, match=r"did you mean 'train.py'"):
        find_script("trian.py", [])
    with pytest.raises(NotFound, match=r"stepscope run -m pkg.train"):
        find_script("pkg.train", [])
    with pytest.raises(UsageError, match=r"a folder without a __main__.py"):
        find_script(".", [])


def test_a_module_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(NotFound, match=r"there is no module 'nowhere_to_be_found'"):
        find_module("nowhere_to_be_found", [])
    with pytest.raises(NotFound, match=r"cannot run module 'nowhere_to_be_found.train'"):
        find_module("nowhere_to_be_found.train", [])


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("print(all([1]))", ["--all", "--lr", "3"], ["--all"]),
        ("parser.add_argument('--all')", ["--all"], []),
        ("def main(max_steps: int = 3): ...", ["--max-steps", "4"], []),
        ("loss.backward()", ["--all", "--all", "--apply"], ["--all", "--apply"]),
        ("loss.backward()", ["data", "--lr"], []),
    ],
)
def test_an_option_of_ours_after_the_script_is_pointed_out(
    text: str, words: list[str], found: list[str], tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    options: list[click.Parameter] = [click.Option([f"--{name}"]) for name in ("all", "apply", "max-steps")]
    assert misplaced(click.Command("fix", params=options), ("file", str(script)), words) == found


@pytest.mark.parametrize(
    ("typed", "ours", "theirs"),
    [
        (["train.py", "--apply"], ["--apply"], []),
        (
            ["--all", "train.py", "--lr", "1", "--steps", "50", "--apply"],
            ["--all", "--steps", "50", "--apply"],
            ["--lr", "1"],
        ),
        (["wants.py", "--steps", "50", "--apply"], ["--apply"], ["--steps", "50"]),
        (["last", "--json"], ["--json"], []),
    ],
)
def test_fix_takes_its_options_behind_the_script_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str], ours: list[str], theirs: list[str]
) -> None:
    from stepscope.cli._launch import OURS
    from stepscope.cli.fix import command

    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("import sys\nprint(sys.argv)\n")
    Path("wants.py").write_text("parser.add_argument('--steps')\n")
    context = command.make_context("fix", list(typed))
    assert (context.meta[OURS], context.obj[1]) == (ours, theirs)
