"""What was asked for and is not there, with what is there under a similar name."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from types import FrameType, ModuleType, TracebackType
from typing import Any

import torch

from stepscope import fence
from stepscope.evidence.crash import Missing
from stepscope.record.observers.crash.kinds import held_by
from stepscope.record.observers.crash.live_values import container_at
from stepscope.record.observers.own_frames import is_own

_MOST = 12
_LONGEST = 60
_UNBOUND = re.compile(r"(?:name|variable) '(\w+)'")
_TABLES = ("_modules", "_parameters", "_buffers")


@fence.fenced("reading which names there are")
def missing_name(error: BaseException, links: list[TracebackType]) -> Missing | None:
    """Of a NameError, AttributeError or KeyError; None for any other."""
    frames = [link for link in links if is_own(link.tb_frame.f_code)]
    unbound = _UNBOUND.search(str(error)) if isinstance(error, NameError) else None
    if unbound is not None and links:
        return _of_variable(unbound[1], links[-1].tb_frame)
    if isinstance(error, AttributeError) and getattr(error, "name", None) and getattr(error, "obj", None) is not None:
        return _of_attribute(str(error.name), error.obj)
    if isinstance(error, KeyError) and error.args and type(error.args[0]) in (str, int) and frames:
        return _of_key(error.args[0], frames[-1])
    return None


def _of_variable(name: str, frame: FrameType) -> Missing:
    names = {*frame.f_locals, *frame.f_globals, *vars(builtins)}
    owner = frame.f_locals.get("self")
    held = attribute_names(owner) if owner is not None else set()
    near = [f"self.{name}"] if name in held else similar(name, names)
    return Missing(name, near=near or [f"self.{one}" for one in similar(name, held)])


def _of_attribute(name: str, owner: Any) -> Missing:
    if isinstance(owner, ModuleType):
        known = set(vars(owner))
        return Missing(
            name, f"module {owner.__name__}", similar(name, known), _listed(known) if len(known) < 40 else []
        )
    every = attribute_names(owner) | {one for base in type(owner).__mro__ for one in vars(base)}
    own = [one for one in held_by(owner) if isinstance(one, str)]
    return Missing(name, type(owner).__name__, similar(name, every), _listed(own))


def _of_key(key: Any, link: TracebackType) -> Missing | None:
    found = container_at(link)
    frames: Any = getattr(sys.modules.get("pandas"), "DataFrame", ())
    if isinstance(found, dict):
        keys = [one for one in list(dict.keys(found))[:2000] if type(one) in (str, int)]
    elif isinstance(found, frames):
        keys = [one for one in list(found.columns)[:2000] if type(one) in (str, int)]
    else:
        return Missing(str(key)[:_LONGEST])
    words = [one for one in keys if isinstance(one, str)]
    near = similar(key, words) if isinstance(key, str) else []
    if isinstance(key, int) and str(key) in words:
        near = [str(key)]
    if isinstance(key, str) and key.isdigit() and int(key) in keys:
        near = [key]
    return Missing(str(key)[:_LONGEST], type(found).__name__, near, _listed(map(str, keys), hidden=True))


def attribute_names(owner: Any) -> set[str]:
    """The names under which an object holds something; a module's layers, parameters and buffers too."""
    held = held_by(owner)
    names = {name for name in held if isinstance(name, str)}
    if isinstance(owner, torch.nn.Module):
        for table in _TABLES:
            names |= set(held.get(table) or {})
    return names


def similar(name: str, names: Iterable[str]) -> list[str]:
    """Names somebody may have meant, the most similar first.

    >>> similar("learing_rate", ["learning_rate", "epochs"])
    ['learning_rate']
    >>> similar("lr", ["learning_rate", "epochs"])
    ['learning_rate']
    >>> similar("state_dict", ["model_state_dict", "optimizer", "epoch"])
    ['model_state_dict']
    """
    others = sorted({one for one in names if one != name and not one.startswith("__")})
    plain = {one.lower().replace("_", ""): one for one in reversed(others)}
    near = [plain[name.lower().replace("_", "")]] if name.lower().replace("_", "") in plain else []
    near += get_close_matches(name, others, 3, 0.75)
    near += [one for one in others if _initials(one) == name.lower() or _initials(name) == one.lower()]
    if len(name) > 3:
        near += [one for one in others if len(one) > 3 and (name in one or one in name)]
    return list(dict.fromkeys(near))[:3]


def _initials(name: str) -> str:
    parts = [part for part in name.lower().split("_") if part]
    return "".join(part[0] for part in parts) if len(parts) > 1 else ""


def _listed(names: Iterable[str], hidden: bool = False) -> list[str]:
    shown = [name[:_LONGEST] for name in names if hidden or not name.startswith("_")]
    return shown[:_MOST]
