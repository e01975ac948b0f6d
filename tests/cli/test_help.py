"""`stepscope` alone shows how to start, and every command in one line that is not cut off."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from stepscope.cli.main import SECTIONS, commands, main


def test_every_command_is_in_one_section() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == commands.list_commands(click.Context(commands))


@pytest.mark.parametrize("width", [80, 120])
def test_no_summary_is_cut_off(width: int) -> None:
    shown = CliRunner().invoke(commands, ["--help"], terminal_width=width).output
    assert "..." not in shown.partition("[ARGS]...")[2]
    assert max(map(len, shown.splitlines())) <= max(width, 100)


def test_nothing_asked_shows_how_to_start(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    assert "stepscope run train.py" in capsys.readouterr().out
