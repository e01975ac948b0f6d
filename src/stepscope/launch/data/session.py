"""The session of `stepscope data`: a dry run of a script, and then a report of what its loaders deliver."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.events.process import DivertedStdout
from stepscope.launch.data.notes import shared_by
from stepscope.launch.data.show import Line, lines_of
from stepscope.launch.data.survey import Survey, survey_of, survey_of_batch
from stepscope.launch.options import Options
from stepscope.launch.roles import role_in_words
from stepscope.launch.script import Script
from stepscope.launch.session import Session
from stepscope.launch.without_torch import needs_torch

if TYPE_CHECKING:
    from stepscope.launch.data.first_step import FirstStep
    from stepscope.record.watch.tape import Tapes
    from stepscope.record.watch.watcher import Watcher
    from stepscope.record.watch.witness import Witness

__all__ = ["DataSession"]


class DataSession(Session):
    """Lets a script do one short epoch, keeps hold of its loaders, and looks at them when it has ended."""

    def __init__(
        self, script: Script, options: Options, *, samples: int = 256, keep: bool = True, json_file: Path | None = None
    ) -> None:
        super().__init__(script, options)
        self._samples = samples
        self._keep = keep
        self._json_file = json_file
        self._stdout: DivertedStdout | None = None
        self._held: dict[int, tuple[Any, str]] = {}
        """Loaders by id, each with the name the script has for it."""
        self._first: FirstStep | None = None
        self._tapes: Tapes | None = None
        self._folder = Path.cwd()
        self.loop.before_pass.append(self._hold)

    def begin(self) -> None:
        if str(self._json_file) == "-":  # what the script prints must not stand in the JSON
            self._stdout = DivertedStdout()
        super().begin()

    def _more_witnesses(self, watcher: Watcher) -> list[Witness]:
        from stepscope.launch.data.first_step import FirstStep
        from stepscope.record.watch.tape import Tapes

        self._first, self._tapes = FirstStep(watcher), Tapes(watcher)
        return [self._first, self._tapes]

    # -- while it runs --------------------------------------------------------------------------------------------

    def _hold(self, loader: Any) -> None:
        if id(loader) not in self._held:
            self._held[id(loader)] = (loader, _name_of(loader, sys._getframe(1)) or "")

    def _hold_all(self) -> None:
        """Those that were made but not iterated yet, too."""
        if self.watcher is None:
            return
        from stepscope.record.watch.loaders import live

        for fact in self.watcher.loaders.all:
            if (loader := live(fact)) is not None:
                self._hold(loader)

    def _stepped(self, optimizer: Any) -> None:
        super()._stepped(optimizer)
        if self.loop.steps == 1:
            fence.fenced("looking for loaders")(self._hold_all)()

    def _evaluated(self, values: dict[str, float]) -> None:
        super()._evaluated(values)
        if self._first is not None and not self._first.metrics:
            self._first.metrics.update(values)

    def _ask_last(self, crash: BaseException | None) -> None:
        fence.fenced("looking for loaders")(self._hold_all)()
        super()._ask_last(crash)

    # -- the report -----------------------------------------------------------------------------------------------

    @fence.fenced("reporting on the data")
    def _sum_up(self, crashed: bool) -> None:
        if self._rank != 0:  # the others see their share of the same data
            return
        surveys = self._surveys()
        if self._keep:
            place = self.settings.dir
            fence.fenced("keeping the pictures")(self._keep_pictures)(surveys, None if place is None else Path(place))
        if self._json_file is not None:
            self._write_json(surveys, self._json_file)
            if self._stdout is not None:
                return
        lines: list[Line] = [[(f"stepscope data {self.script.name}", "bold"), (self._said(surveys, crashed), "")]]
        for survey in surveys:
            lines += [[("", "")], *lines_of(survey)]
        if self._first is not None:
            lines += [[("", "")], [("first step", "bold cyan"), (f"  {self._first.seen.model}", "")]]
            lines += self._first.lines(self._tapes)
        _print(lines)

    def _said(self, surveys: list[Survey], crashed: bool) -> str:
        if not surveys and not crashed:
            why = needs_torch(self.script.name, self.loop.steps) or "the script uses no DataLoader"
            return f": no data was seen: {why}; only what a DataLoader delivers is looked at"
        notes = sum(len(survey.notes) for survey in surveys)
        doubts = f"{notes} thing{'s' * (notes != 1)} to look at" if notes else "nothing odd in the data"
        return f": {'it crashed; ' if crashed else ''}{doubts}"

    def _surveys(self) -> list[Survey]:
        found = []
        seen: set[Any] = set()
        for number, (loader, name) in enumerate(self._held.values()):
            made_as = _made_as(loader)
            if made_as in seen:  # a loader made anew for each epoch is one loader to the reader
                continue
            seen.add(made_as)
            role = self.limiter.roles.of(loader) or role_in_words(name) or ""
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
        if self._first is None or self._first.call is None:
            return []
        args, kwargs = self._first.call
        batch = {f"[{place}]": part for place, part in enumerate(args)} | kwargs
        tape = self._tapes.all[0] if self._tapes is not None and self._tapes.all else None
        for node in [] if tape is None else tape.nodes:
            if node is not tape.model_call:  # type: ignore[union-attr]
                batch |= {f"{node.name}[{i}]": part.tensor for i, part in enumerate(node.args) if _is_data(part)}
        return [survey_of_batch("model input", batch)]

    def _keep_pictures(self, surveys: list[Survey], place: Path | None) -> None:
        from stepscope.launch.data.keep import saved_in_run

        saved_in_run(surveys, project=self.settings.project, dir=place, script=self.script.name)

    def _write_json(self, surveys: list[Survey], path: Path) -> None:
        import msgspec

        from stepscope.inspect.table import finite_json

        first = self._first
        whole = {
            "script": self.script.path,
            "loaders": [survey.to_dict() for survey in surveys],
            "first_step": {}
            if first is None
            else {
                **first.start(self._tapes),
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
    from stepscope.record.watch.tape import Constant

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
