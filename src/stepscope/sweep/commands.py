"""From a setting to a command line: the words a script gets, and the words around them."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepscope.errors import ConfigError
from stepscope.sweep.spec import Arguments, Sweep

_MACRO = re.compile(r"\$\{([^}]*)\}")
_PLAIN_FOR_HYDRA = re.compile(r"[A-Za-z0-9_./:+@%-]+")


def command_of(sweep: Sweep, params: Mapping[str, Any], *, number: int = 0, slot: int = 0) -> list[str]:
    """The command that runs one setting."""
    words = arguments_of(params, sweep.arguments)
    if not sweep.command:
        return [*_starter(sweep), *_target(sweep), *sweep.fixed, *words]
    known = {
        **{name: _text(value) for name, value in params.items()},
        "number": str(number),
        "slot": str(slot),
        "name": sweep.name,
        "program": sweep.script or sweep.module or "",
    }
    lists = _lists(sweep, params, words)
    return [word for piece in sweep.command for word in _expanded(piece, known, lists)]


def _starter(sweep: Sweep) -> list[str]:
    return [sys.executable, "-m", "stepscope", "run", *sweep.run_options] if sweep.watch else [sys.executable]


def _target(sweep: Sweep) -> list[str]:
    if sweep.module is not None:
        return ["-m", sweep.module]
    if sweep.script is None:
        raise ConfigError("the sweep names nothing to run; add `script: train.py`, `module: pkg.train` or `command:`")
    if not Path(sweep.script).is_file():
        raise ConfigError(f"there is no script {sweep.script!r} in {os.getcwd()}; paths are seen from where you start")
    return [sweep.script]


def _lists(sweep: Sweep, params: Mapping[str, Any], words: list[str]) -> dict[str, list[str]]:
    """Placeholders for several words, W&B's names among them."""
    flags = Arguments("equals", "flag")
    return {
        "args": words,
        "args_no_hyphens": arguments_of(params, Arguments("hydra")),
        "args_no_boolean_flags": arguments_of(params, flags),
        "args_json": [json.dumps(dict(params), default=str)],
        "fixed": list(sweep.fixed),
        "interpreter": _starter(sweep),
        "env": [],
    }


def _expanded(piece: str, known: Mapping[str, str], lists: Mapping[str, list[str]]) -> list[str]:
    whole = _MACRO.fullmatch(piece)
    if whole and whole[1] in lists:
        return lists[whole[1]]

    def filled(found: re.Match[str]) -> str:
        name = found[1]
        if name.startswith("envvar:"):
            return os.environ.get(name[7:], "")
        if name in lists:
            return " ".join(lists[name])
        if name not in known:
            raise ConfigError(f"command: ${{{name}}} is unknown; known are {', '.join([*lists, *known])}")
        return known[name]

    return [_MACRO.sub(filled, piece)]


def arguments_of(params: Mapping[str, Any], how: Arguments | None = None) -> list[str]:
    """The words for a setting.

    >>> arguments_of({"lr": 0.1, "bias": True})
    ['--lr=0.1', '--bias=True']
    >>> arguments_of({"lr": 0.1, "bias": True, "tied": False}, Arguments("space", "no-flag"))
    ['--lr', '0.1', '--bias', '--no-tied']
    >>> arguments_of({"model.width": 64, "layers": [8, 8], "init": None}, Arguments("hydra"))
    ['model.width=64', 'layers=[8, 8]', 'init=null']
    """
    how = how or Arguments()
    words: list[str] = []
    for name, value in params.items():
        if how.style == "none":
            continue
        if how.style == "hydra":
            words.append(f"{name}={_hydra(value)}")
        elif isinstance(value, bool) and how.booleans != "value":
            words += [f"--{name}"] if value else [f"--no-{name}"] if how.booleans == "no-flag" else []
        elif how.style == "space":
            words += [f"--{name}", _text(value)]
        else:
            words.append(f"--{name}={_text(value)}")
    return words


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list | tuple | dict) else str(value)


def _hydra(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and not _PLAIN_FOR_HYDRA.fullmatch(value):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return _text(value)
