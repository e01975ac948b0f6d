"""`init-vscode` adds entries and leaves everything else of the files as it was; its matcher reads what we print."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from stepscope.cli.main import commands
from stepscope.diagnose.outputs.lines import line
from stepscope.errors import BadData
from stepscope.launch.jsonc import Merged, merged, read
from stepscope.launch.vscode import CONFIGURATIONS, PROBLEM_MATCHER, TASKS, write_files
from stepscope.records import Finding

NAMES = [one["name"] for one in CONFIGURATIONS]

WITH_COMMENTS = """\
{
  // Use IntelliSense, see https://go.microsoft.com/fwlink/?linkid=830387
  "version": "0.2.0",
  "compounds": [{"name": "both", "configurations": ["one", "two"]}],
  "configurations": [
    {
      "name": "Mine, with a ] and a , } in its name", // and a comment
      "type": "debugpy",
      "args": ["a,]", "b"],
    }, /* the last */
    // nothing more
  ],
  "inputs": []
}
"""


def add(text: str, *, replace: bool = False) -> Merged:
    return merged(text, "configurations", CONFIGURATIONS, name="name", where="launch.json", replace=replace)


def names_in(text: str) -> list[str]:
    return [one["name"] for one in read(text, "configurations", "it")]


def launch_file(folder: Path, text: str) -> Path:
    path = folder / ".vscode" / "launch.json"
    path.parent.mkdir()
    path.write_text(text)
    return path


def test_new_files_are_plain_json(tmp_path: Path) -> None:
    launch, tasks = write_files(tmp_path)
    assert json.loads(launch.path.read_text())["configurations"] == CONFIGURATIONS
    assert json.loads(tasks.path.read_text()) == {"version": "2.0.0", "tasks": TASKS}
    assert launch.merged.added == NAMES


def test_comments_and_entries_stay_letter_for_letter() -> None:
    changed, added, replaced, kept = add(WITH_COMMENTS)
    assert (added, replaced, kept) == (NAMES, [], [])
    assert names_in(changed) == ["Mine, with a ] and a , } in its name", *NAMES]
    before, after = WITH_COMMENTS.split("    // nothing more\n")
    assert changed.startswith(before + "    // nothing more\n")
    assert changed.endswith(after)


def test_a_list_of_the_same_name_inside_an_entry_is_not_meant() -> None:
    assert '"compounds": [{"name": "both", "configurations": ["one", "two"]}],' in add(WITH_COMMENTS).text


def test_a_second_time_changes_nothing() -> None:
    once = add(WITH_COMMENTS).text
    assert add(once) == (once, [], [], NAMES)
    assert add(once, replace=True) == (once, [], [], NAMES)


def test_an_entry_of_our_name_that_was_edited_is_kept_unless_forced(tmp_path: Path) -> None:
    path = launch_file(tmp_path, '{"configurations": [{"name": "Stepscope: attach", "port": 1}, {"name": "mine"}]}')
    assert write_files(tmp_path)[0].merged.kept == ["Stepscope: attach"]
    assert json.loads(path.read_text())["configurations"][0] == {"name": "Stepscope: attach", "port": 1}
    assert write_files(tmp_path, force=True)[0].merged.replaced == ["Stepscope: attach"]
    now = json.loads(path.read_text())["configurations"]
    assert now[:2] == [CONFIGURATIONS[-1], {"name": "mine"}]
    assert sorted(one["name"] for one in now) == sorted([*NAMES, "mine"])


def test_tabs_carriage_returns_and_the_byte_order_mark_stay(tmp_path: Path) -> None:
    before = b'\xef\xbb\xbf{\r\n\t"configurations": [\r\n\t\t{"name": "mine"}\r\n\t]\r\n}\r\n'
    path = launch_file(tmp_path, "")
    path.write_bytes(before)
    write_files(tmp_path)
    after = path.read_bytes()
    assert after.startswith(b'\xef\xbb\xbf{\r\n\t"configurations": [\r\n\t\t{"name": "mine"},\r\n\t\t{\r\n\t\t\t"name"')
    assert after.count(b"\n") == after.count(b"\r\n")
    assert names_in(after.decode("utf-8-sig")) == ["mine", *NAMES]


@pytest.mark.parametrize(
    "text", ["{}", '{"version": "0.2.0"}', '{"configurations": []}', '{\n  "configurations": [\n  ]\n}', "{ // none\n}"]
)
def test_files_without_entries_get_ours(text: str) -> None:
    assert names_in(add(text).text) == NAMES


@pytest.mark.parametrize("text", ["{", "[]", '{"configurations": 3}', "not json", '{"configurations": [}', "{} {}"])
def test_when_one_file_cannot_be_read_neither_is_changed(text: str, tmp_path: Path) -> None:
    path = launch_file(tmp_path, text)
    (tmp_path / ".vscode" / "tasks.json").write_text('{"tasks": []}')
    with pytest.raises(BadData, match="nothing was changed"):
        write_files(tmp_path)
    assert path.read_text() == text
    assert (tmp_path / ".vscode" / "tasks.json").read_text() == '{"tasks": []}'


def test_the_command_says_what_it_wrote(tmp_path: Path) -> None:
    def say(*args: str) -> str:
        told = CliRunner().invoke(commands, ["init-vscode", str(tmp_path), *args])
        assert told.exit_code == 0
        return told.output

    assert "nothing was written" in say("--dry-run")
    assert not (tmp_path / ".vscode").exists()
    assert "added  Stepscope: run this file\n" in say()
    assert "kept   Stepscope: run this file (already there)" in say()
    told = json.loads(say("--json"))
    assert [(Path(one["path"]).name, one["written"], one["added"]) for one in told] == [
        ("launch.json", False, []),
        ("tasks.json", False, []),
    ]


@pytest.mark.parametrize(
    ("finding", "groups"),
    [
        (
            Finding(rule="opt.no-zero-grad", severity="error", message="it grows", label="1 -> 2", fix="clear it",
                    file="/here/a b.py", line=8, column=4, end_column=19),
            ("a b.py", "8", "5", "20", "error", "it grows; 1 -> 2; clear it", "opt.no-zero-grad"),
        ),
        (
            Finding(rule="m.x", severity="info", message="two\nlines: \x1b[31m[red] 3:4-5: error",
                    file="/else/b.py", line=1),
            ("/else/b.py", "1", "1", "1", "info", "two lines: [red] 3:4-5: error", "m.x"),
        ),
        (Finding(rule="m.x", severity="warning", message="nowhere"), None),
    ],
)  # fmt: skip
def test_the_problem_matcher_reads_each_line(finding: Finding, groups: tuple[str, ...] | None) -> None:
    found = re.match(PROBLEM_MATCHER["pattern"]["regexp"], line(finding, Path("/here")))
    assert (None if found is None else found.groups()) == groups
