"""`observe`: an exception with its living frames becomes a record."""

from __future__ import annotations

import ast
import re
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import torch

from stepscope.common.syntax import running_node
from stepscope.evidence.crash import Crash, Frame, WorkerFrame
from stepscope.evidence.frame_values import Scope
from stepscope.evidence.repairs import Repairs
from stepscope.record.observers.crash.frame_values import LEFT_OUT, Describer
from stepscope.record.observers.crash.kinds import held_by
from stepscope.record.observers.crash.live_values import called, instruction_span
from stepscope.record.observers.crash.missing_names import missing_name
from stepscope.record.observers.crash.models import describe_models, unmade
from stepscope.record.observers.crash.trials.search import repairs
from stepscope.record.observers.module_records import live
from stepscope.record.observers.names import dtype_name
from stepscope.record.observers.own_frames import is_own, is_own_file
from stepscope.record.sites import site_at
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher

_HIDDEN = ("torch/overrides.py", "torch/utils/_contextlib.py", "torch/_compile.py")
_FIRST, _LAST = 40, 160  # of a RecursionError's thousand frames these tell enough
_MOST_NAMES = 4000
_CLOSEST = 7
"""So many of the innermost frames may tell what failed."""


def observe(error: BaseException, watcher: Watcher) -> Crash:
    """What ended the script, with what was watched before it."""
    root = _root_of(error)
    links = _links(root.__traceback__)
    crash = Crash(type(root).__name__, tuple(base.__name__ for base in type(root).__mro__), _text_of(root))
    crash.raised_as = type(error).__name__
    crash.grad_enabled = torch.is_grad_enabled()
    crash.default_dtype = dtype_name(torch.get_default_dtype())
    crash.worker = _worker_frames(crash.text)
    crash.unmade = _unmade(root, links)
    crash.missing = missing_name(root, links)
    crash.callee = called(root, links)
    _watched(crash, watcher)
    wanted = {name for link in links if is_own(link.tb_frame.f_code) for name in _names_in(link.tb_frame.f_code)}
    describer = Describer(watcher, wanted)
    crash.frames = _frames(links, describer)
    running = [module for link in links if (module := _owner(link.tb_frame)) is not None]
    for visit in crash.visits[:1]:
        model = live(visit.root.module)
        if model is not None:
            describer.module(model)
    describe_models(describer, watcher, running, wanted)
    describer.finish()
    crash.modules = describer.modules
    crash.own_files = {site.file for seen in crash.modules.values() for site in seen.sites.values()}
    crash.own_files = {file for file in crash.own_files if is_own_file(file)}
    return crash


def tried_changes(error: BaseException) -> Repairs:
    """Which single changes would let the script go on."""
    root = _root_of(error)
    return repairs(root, _links(root.__traceback__))


def _watched(crash: Crash, watcher: Watcher) -> None:
    crash.failed_op = watcher.tensor_history.failed
    crash.visits = list(watcher.visits.latest)
    crash.calls_done = sum(1 for root in watcher.visits.roots if not root.error)
    models = [live(model.module) for model in watcher.models.roots]
    parameters = [one for model in models if model is not None for one in model.parameters()]
    crash.frozen = bool(parameters) and not any(one.requires_grad for one in parameters)
    crash.stepped = watcher.steps.steps[-1].place if watcher.steps.steps else None
    crash.broken = watcher.indices.broken


def _frames(links: list[TracebackType], describer: Describer) -> list[Frame]:
    """The innermost are described first: what failed is worth more than what called it."""
    scopes: dict[int, Scope] = {}
    kept: list[Any] = []  # from Python 3.13 on a frame makes its locals when asked, and another could get their id
    texts: list[tuple[dict[str, Any], str, str]] = []

    def scope(names: dict[str, Any]) -> Scope:
        known = scopes.get(id(names))
        if known is None:
            known = scopes[id(names)] = Scope()
            kept.append(names)
            for name, value in list(names.items())[:_MOST_NAMES]:
                found = LEFT_OUT if name.startswith("__") else describer.of(value)
                if found is not LEFT_OUT:
                    known.names[name] = found
                    if type(value) is str:
                        texts.append((known.names, name, value))
        return known

    frames = [_frame(link, scope, describer) for link in reversed(links)]
    for frame in frames[:_CLOSEST]:
        frame.code = "" if frame.own else _running(frame)
    describer.finish()
    for names, name, text in texts:
        if text in describer.keys:  # a word that picks something out of a dict; all others stay with the user
            names[name] = text
    return frames[::-1]


def _frame(link: TracebackType, scope: Any, describer: Describer) -> Frame:
    code, lasti = link.tb_frame.f_code, link.tb_lasti
    frame = Frame(code.co_filename, code.co_name, code.co_firstlineno, link.tb_lineno, site_at((code, lasti)))
    frame.span, frame.own = instruction_span(code, lasti), is_own(code)
    frame.arguments = list(code.co_varnames[: code.co_argcount])
    live_names = link.tb_frame.f_locals
    frame.inner = scope(live_names)
    owner = live_names.get("self")
    if frame.own:
        frame.outer = scope(link.tb_frame.f_globals)
    if owner is not None and not isinstance(owner, torch.nn.Module):
        fetches = "torch/utils/data" in code.co_filename.replace("\\", "/")
        if frame.own or (fetches and "dataset" in held_by(owner)):
            describer.of(owner, whole=True)
    return frame


def _running(frame: Frame) -> str:
    """The expression that was running, as a statement that can be read again."""
    node = running_node(frame.file, frame.span, frame.line)
    shown = isinstance(node, (ast.Await, ast.Raise, ast.Call, ast.BinOp, ast.AugAssign, ast.Compare, ast.Subscript))
    if node is None or not shown:
        return ""
    written = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    return f"{ast.unparse(node)} = ..." if written else ast.unparse(node)


def _owner(frame: FrameType) -> torch.nn.Module | None:
    """The module whose method a frame runs."""
    code = frame.f_code
    owner = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    return owner if isinstance(owner, torch.nn.Module) and "_modules" in vars(owner) else None


def _names_in(code: CodeType) -> set[str]:
    """The names and attributes a function and those inside it speak of."""
    found = set(code.co_names)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            found |= _names_in(part)
    return found


def _unmade(error: BaseException, links: list[TracebackType]) -> tuple[str, Site] | None:
    """The class whose object lacks the tables of a module, and the line of its constructor."""
    seen = [value for link in reversed(links) for value in list(link.tb_frame.f_locals.values())[:200]]
    for value in (getattr(error, "obj", None), *seen):
        found = unmade(value)
        if found is not None:
            base, code = found
            return base.__name__, Site(file=code.co_filename, line=code.co_firstlineno, function="__init__")
    return None


def _worker_frames(text: str) -> list[WorkerFrame] | None:
    if "DataLoader worker process" not in text and "Original Traceback" not in text:
        return None
    lines = re.findall(r'File "([^"]+)", line (\d+), in (\S+)', text)
    return [WorkerFrame(file, int(line), function, is_own_file(file)) for file, line, function in lines]


def _links(trace: TracebackType | None) -> list[TracebackType]:
    """The frames, outermost first, without torch's plumbing and ours."""
    links: list[TracebackType] = []
    while trace is not None:
        links.append(trace)
        trace = trace.tb_next
    if len(links) > _FIRST + _LAST:
        links = links[:_FIRST] + links[-_LAST:]
    return [link for link in links if not _is_hidden(link.tb_frame)]


def _is_hidden(frame: FrameType) -> bool:
    file = frame.f_code.co_filename.replace("\\", "/")
    # Launchers, watchers and modes of ours stand between the user's frames; they are nobody's business.
    return frame.f_globals.get("__name__", "").startswith("stepscope.") or file.endswith(_HIDDEN)


def _text_of(error: BaseException) -> str:
    try:
        return str.__str__(str(error))  # a text of a class of its own (torch's KeyErrorMessage) is not a record
    except Exception:  # an exception of the user's own whose __str__ fails: there is nothing to read then
        return ""


def _root_of(error: BaseException) -> BaseException:
    """The exception to explain: what was raised first, where one was raised from another or several in a group."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        parts = getattr(error, "exceptions", None)
        if isinstance(parts, tuple) and parts and isinstance(parts[0], BaseException):
            error = parts[0]
        elif error.__cause__ is not None and _passes_own_code(error.__cause__.__traceback__):
            error = error.__cause__
    return error


def _passes_own_code(trace: TracebackType | None) -> bool:
    """Whether a traceback has a frame of the user's; one inside a package alone tells them less than what followed."""
    while trace is not None:
        if is_own(trace.tb_frame.f_code):
            return True
        trace = trace.tb_next
    return False
