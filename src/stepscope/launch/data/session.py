"""The session of `stepscope data`: a dry run of a script, and then a report of what its loaders deliver."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.events.process import DivertedStdout
from stepscope.launch.data.notes import shared_by
from stepscope.launch.data.show import Line, lines_of
from stepscope.launch.data.survey import Survey, survey_of, survey_of_batch
from stepscope.launch.loader_roles import Role, role_in_words
from stepscope.launch.options import Options
from stepscope.launch.part import Ended, Part
from stepscope.launch.parts.terminal import ShownStatus, Values, status_text
from stepscope.launch.parts.verdict import Judged
from stepscope.launch.parts.watch import Companion
from stepscope.launch.script import Script
from stepscope.launch.session import Session
from stepscope.launch.session_context import Around
from stepscope.launch.sessions import Pieces
from stepscope.launch.without_torch import needs_torch

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from stepscope.launch.data.first_step import FirstStep
    from stepscope.record.observers.tape import Tapes
    from stepscope.record.observers.watcher import Watcher

__all__ = ["data_session"]


def data_session(
    script: Script, options: Options, *, samples: int = 256, keep: bool = True, json_file: Path | None = None
) -> Session:
    """Lets a script do one short epoch, keeps hold of its loaders, and looks at them when it has ended."""
    around = Around(script, options)
    pieces = Pieces(around)
    held = _Held(around)
    pieces.evaluated.append(held.evaluated)
    watch = pieces.watch(held)
    parts = [
        _Report(around, held, pieces.limiter.roles.of, samples=samples, keep=keep, json_file=json_file),
        Judged(pieces.case(watch)),
        *pieces.entrance(watch),
        *pieces.training(watch),
        ShownStatus(around, status_text(around, pieces.logbook)),
        held,
        Values(around, watch),
        pieces.ends(),
    ]
    return Session(around, parts)


class _Held(Companion):
    """Loaders that the script reads or has made, and its first step."""

    ending = "looking for loaders"

    def __init__(self, around: Around) -> None:
        self._loop = around.loop
        self._watcher: Watcher | None = None
        self.loaders: dict[int, tuple[Any, str]] = {}
        """By id, each with the name the script has for it."""
        self.first: FirstStep | None = None
        self.tapes: Tapes | None = None

    def begin(self) -> None:
        self._loop.before_pass.append(self._hold)
        self._loop.on_step.append(self._stepped)

    def watcher_made(self, watcher: Watcher) -> None:
        from stepscope.launch.data.first_step import FirstStep
        from stepscope.record.observers.tape import Tapes

        self._watcher = watcher
        self.first, self.tapes = FirstStep(watcher), Tapes(watcher)
        watcher.add(self.first)
        watcher.add(self.tapes)

    def _hold(self, loader: Any) -> None:
        if id(loader) not in self.loaders:
            self.loaders[id(loader)] = (loader, _name_of(loader, sys._getframe(1)) or "")

    def _hold_all(self) -> None:
        """Those that were made but not iterated yet, too."""
        if self._watcher is None:
            return
        from stepscope.record.observers.loaders import live

        for fact in self._watcher.loaders.all:
            if (loader := live(fact)) is not None:
                self._hold(loader)

    def _stepped(self, optimizer: Optimizer) -> None:
        self._loop.no_longer_on_step(self._stepped)
        fence.call("looking for loaders", self._hold_all)

    def evaluated(self, values: dict[str, float]) -> None:
        if self.first is not None and not self.first.metrics:
            self.first.metrics.update(values)

    def end(self, ended: Ended) -> None:
        self._hold_all()


class _Report(Part):
    """What the loaders deliver."""

    ending = "reporting on the data"

    def __init__(
        self,
        around: Around,
        held: _Held,
        role_of: Callable[[Any], Role | None],
        *,
        samples: int,
        keep: bool,
        json_file: Path | None,
    ) -> None:
        self._around, self._held, self._role_of = around, held, role_of
        self._samples, self._keep, self._json_file = samples, keep, json_file
        self._stdout: DivertedStdout | None = None
        self._folder = Path.cwd()

    def begin(self) -> None:
        if str(self._json_file) == "-":  # what the script prints must not end up in the JSON
            self._stdout = DivertedStdout()

    def end(self, ended: Ended) -> None:
        if self._around.rank != 0:  # the others see their share of the same data
            return
        first, crashed = self._held.first, ended.crash is not None
        surveys = self._surveys()
        if self._keep:
            place = self._around.settings.dir
            fence.fenced("keeping the pictures")(self._keep_pictures)(surveys, None if place is None else Path(place))
        if self._json_file is not None:
            self._write_json(surveys, self._json_file)
            if self._stdout is not None:
                return
        lines: list[Line] = [
            [(f"stepscope data {self._around.script.name}", "bold"), (self._said(surveys, crashed), "")]
        ]
        for survey in surveys:
            lines += [[("", "")], *lines_of(survey)]
        if first is not None:
            lines += [[("", "")], [("first step", "bold cyan"), (f"  {first.seen.model}", "")]]
            lines += first.lines(self._held.tapes)
        _print(lines)

    def _said(self, surveys: list[Survey], crashed: bool) -> str:
        if not surveys and not crashed:
            why = needs_torch(self._around.script.name, self._around.loop.steps) or "the script uses no DataLoader"
            return f": no data was seen: {why}; only data from a DataLoader is examined"
        notes = sum(len(survey.notes) for survey in surveys)
        doubts = f"{notes} suspicious thing{'s' * (notes != 1)}" if notes else "nothing suspicious in the data"
        return f": {'it crashed; ' if crashed else ''}{doubts}"

    def _surveys(self) -> list[Survey]:
        found = []
        seen: set[Any] = set()
        for number, (loader, name) in enumerate(self._held.loaders.values()):
            made_as = _made_as(loader)
            if made_as in seen:  # a loader recreated for each epoch is one loader to the reader
                continue
            seen.add(made_as)
            role = self._role_of(loader) or role_in_words(name) or ""
            survey = fence.fenced("looking at a loader")(survey_of)(
                loader, name=_called(role, name, number), role=role, samples=self._samples
            )
            if survey is not None:
                found.append(survey)
        order = {"train": 0, "val": 1, "test": 2}
        found.sort(key=lambda survey: order.get(survey.role, 3))
        for number, survey in enumerate(found):
            key = survey.role or "loader"
            survey.key = key if all(other.key != key for other in found[:number]) else f"{key}-{number + 1}"
        shared_by(found)
        return found or self._without_loaders()

    def _without_loaders(self) -> list[Survey]:
        """What the model was called with, and what its answer was compared with."""
        first, tapes = self._held.first, self._held.tapes
        if first is None or first.call is None:
            return []
        args, kwargs = first.call
        batch = {f"[{place}]": part for place, part in enumerate(args)} | kwargs
        tape = tapes.all[0] if tapes is not None and tapes.all else None
        for node in [] if tape is None else tape.nodes:
            if node is not tape.model_call:  # type: ignore[union-attr]
                batch |= {f"{node.name}[{i}]": part.tensor for i, part in enumerate(node.args) if _is_data(part)}
        return [survey_of_batch("model input", batch)]

    def _keep_pictures(self, surveys: list[Survey], place: Path | None) -> None:
        from stepscope.launch.data.keep import saved_in_run

        saved_in_run(surveys, project=self._around.settings.project, dir=place, script=self._around.script.name)

    def _write_json(self, surveys: list[Survey], path: Path) -> None:
        import msgspec

        from stepscope.inspect.table import finite_json

        first = self._held.first
        whole = {
            "script": self._around.script.path,
            "loaders": [survey.to_dict() for survey in surveys],
            "first_step": {}
            if first is None
            else {
                **first.start(self._held.tapes),
                "model": first.seen.model,
                "metrics": first.metrics,
                "layers": [vars(layer) for layer in first.seen.layers],
            },
        }
        text = msgspec.json.encode(finite_json(whole)).decode() + "\n"
        if self._stdout is None:
            (self._folder / path).write_text(text, encoding="utf-8")
        else:
            self._stdout.write(text)


def _is_data(part: Any) -> bool:
    from stepscope.record.observers.tape import Constant

    return isinstance(part, Constant) and part.tensor.dim() > 0


def _made_as(loader: Any) -> Any:
    """What a loader was made of: equal for loaders over the very same data with the same settings."""
    dataset = getattr(loader, "dataset", None)
    if dataset is None:
        return id(loader)
    parts = vars(dataset).values() if hasattr(dataset, "__dict__") else [dataset]
    content = tuple(tuple(map(id, part)) if isinstance(part, tuple) else id(part) for part in parts)
    settings = tuple(str(getattr(loader, name, None)) for name in ("batch_size", "drop_last", "num_workers"))
    return type(dataset), content, type(getattr(loader, "sampler", None)), settings


def _called(role: str, name: str, number: int) -> str:
    """train, val or test, by what happened to its batches or by its name; and the script's own name for it."""
    if not role:
        return name or f"loader {number + 1}"
    return role if not name or name == role else f"{role} ({name})"


def _name_of(loader: Any, frame: FrameType | None) -> str | None:
    """What the script calls it: a variable, an attribute or a key, from the innermost frame outwards."""
    while frame is not None:
        for name, value in list(frame.f_locals.items()):
            if value is loader and name not in ("loader", "self", "dataloader", "dl", "data_loader"):
                return name
            inner = value if isinstance(value, dict) else getattr(value, "__dict__", {}) if name == "self" else {}
            for key, part in list(inner.items())[:200]:
                if part is loader:
                    return str(key)
        frame = frame.f_back
    return None


def _print(lines: list[Line]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    for line in lines:
        if console.is_terminal:
            console.print(Text.assemble(*line, no_wrap=True, overflow="ellipsis"))
        else:
            console.file.write("".join(text for text, _ in line).rstrip() + "\n")
    console.file.flush()
