"""Whose code a file is: one table for everybody who asks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import torch

import stepscope
from stepscope.common import code_owner
from stepscope.common.code_owner import is_library_path, is_ours, is_own_file, is_users_file

TABLE = [
    # path, the user's own, the user's or a library's on top of torch, installed by its path alone
    ("/home/me/project/train.py", True, True, False),
    ("train.py", True, True, False),
    ("/home/me/.venv/lib/python3.11/site-packages/rich/text.py", False, True, True),
    ("/home/me/.local/lib/python3.11/site-packages/timm/models.py", False, True, True),
    ("/usr/lib/python3/dist-packages/sympy/core/add.py", False, True, True),
    ("C:\\env\\Lib\\site-packages\\timm\\models.py", False, True, True),
    ("<frozen importlib._bootstrap>", False, False, True),
    (os.__file__, False, False, True),
    (torch.__file__, False, False, True),
    (stepscope.__file__, False, False, False),
]


@pytest.mark.parametrize(("path", "own", "users", "library"), TABLE, ids=[row[0] for row in TABLE])
def test_whose_code(path: str, own: bool, users: bool, library: bool) -> None:
    assert (is_own_file(path), is_users_file(path), is_library_path(path)) == (own, users, library)


def test_our_own_files() -> None:
    assert is_ours(stepscope.__file__)
    assert not is_ours("/home/me/stepscope_plots.py")


def test_a_folder_that_packages_were_installed_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "timm-1.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    for known in (code_owner.OWN, code_owner.USERS):
        monkeypatch.setattr(code_owner, "OWN" if known is code_owner.OWN else "USERS", {})
    assert not is_own_file(str(tmp_path / "timm" / "models.py"))
    assert is_own_file(str(tmp_path.parent / "train.py"))
