"""`init-vscode` adds entries and leaves everything else of the file as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from stepscope.cli.main import commands
from stepscope.errors import BadData
from stepscope.launch.vscode import CONFIGURATIONS, add_configurations, write_launch_file

NAMES = [one["name"] for one in CONFIGURATIONS]

WITH_COMMENTS = """\
{
  // Use IntelliSense, see https://go.microsoft.com/fwlink/?linkid=830387
  "version": "0.2.0",
  "configurations": [
    {
      "name": "Mine, with a ] and a , } in its name", // and a comment
      "type": "debugpy",
      "args": ["a,]", "b"],
    }, /* the last */
    // nothing more
  ],
  "compounds": []
}
"""


def read(text: str) -> list[str]:
    from stepscope.launch.vscode import _blanked, _read

    return [one["name"] for one in _read(_blanked(text), "it")]


def test_a_new_file_is_plain_json(tmp_path: Path) -> None:
    written = write_launch_file(tmp_path)
    assert [one["name"] for one in json.loads(written.path.read_text())["configurations"]] == NAMES
    assert written.added == NAMES
    modes = {one["name"]: one.get("justMyCode") for one in CONFIGURATIONS}
    assert set(modes.values()) == {True, False}


def test_comments_and_entries_stay_letter_for_letter() -> None:
    changed, added, kept = add_configurations(WITH_COMMENTS)
    assert added == NAMES
    assert kept == []
    assert read(changed) == ["Mine, with a ] and a , } in its name", *NAMES]
    for line in WITH_COMMENTS.splitlines():
        assert line.strip().rstrip(",") in changed


def test_a_second_time_changes_nothing() -> None:
    once, _, _ = add_configurations(WITH_COMMENTS)
    again, added, kept = add_configurations(once)
    assert again == once
    assert added == []
    assert kept == NAMES


def test_an_entry_of_our_name_that_was_edited_is_kept(tmp_path: Path) -> None:
    (tmp_path / ".vscode").mkdir()
    path = tmp_path / ".vscode" / "launch.json"
    path.write_text('{"configurations": [{"name": "Stepscope: attach", "port": 1}]}')
    written = write_launch_file(tmp_path)
    assert written.kept == ["Stepscope: attach"]
    assert json.loads(path.read_text())["configurations"][0] == {"name": "Stepscope: attach", "port": 1}


@pytest.mark.parametrize(
    "text", ["{}", '{"version": "0.2.0"}', '{"configurations": []}', '{\n  "configurations": [\n  ]\n}']
)
def test_files_without_entries_get_ours(text: str) -> None:
    changed, _, _ = add_configurations(text)
    assert read(changed) == NAMES
    assert json.loads(changed)


@pytest.mark.parametrize("text", ["{", "[]", '{"configurations": 3}', "not json"])
def test_a_file_that_cannot_be_read_is_left_alone(text: str, tmp_path: Path) -> None:
    (tmp_path / ".vscode").mkdir()
    path = tmp_path / ".vscode" / "launch.json"
    path.write_text(text)
    with pytest.raises(BadData, match="nothing was changed"):
        write_launch_file(tmp_path)
    assert path.read_text() == text


def test_the_command_says_what_it_wrote(tmp_path: Path) -> None:
    told = CliRunner().invoke(commands, ["init-vscode", str(tmp_path)])
    assert told.exit_code == 0
    assert "added  Stepscope: run this file\n" in told.output
    told = CliRunner().invoke(commands, ["init-vscode", str(tmp_path)])
    assert "kept   Stepscope: run this file (it was there already)" in told.output
