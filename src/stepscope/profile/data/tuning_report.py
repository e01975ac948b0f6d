"""What came of tuning a loader: a table, the best setting, the line to write; for a person and for programs."""

from __future__ import annotations

import textwrap
from typing import Any

from stepscope.common.units import bytes_text, time_text
from stepscope.profile.data.rewrite import Change, rewritten
from stepscope.profile.data.stages import shown_path
from stepscope.profile.data.trial import Trial
from stepscope.profile.data.tuner import Tuner, cpu_count

Line = list[tuple[str, str]]
"""Pieces of text, each with a style of rich."""


class TuningReport:
    """Read off a tuner that has ended."""

    def __init__(self, tuner: Tuner, place: tuple[str, int] | None) -> None:
        self.tuner = tuner
        self.place = place
        self.best = tuner.best
        self.now_s = self._pooled(tuner.now)
        self.best_s = self._pooled(self.best)
        self.free_s = None if tuner.free is None else tuner.free.steady_s

    def _step(self, trial: Trial | None) -> float | None:
        return None if trial is None else trial.step_s(self.tuner.length)

    def _pooled(self, trial: Trial | None) -> float | None:
        """The mean of its first time and of the second, side by side with the other."""
        if trial is None:
            return None
        runs = [trial, *(one for one in self.tuner.again if one.settings == trial.settings and not one.error)]
        found = [step for step in map(self._step, runs) if step is not None]
        return sum(found) / len(found) if found else None

    @property
    def gain(self) -> float | None:
        return self.now_s / self.best_s if self.now_s and self.best_s else None

    @property
    def noise(self) -> float | None:
        """How far apart the two measurements of one setting are, at most."""
        found = []
        for trial in (self.tuner.now, self.best):
            first = self._step(trial)
            second = [self._step(one) for one in self.tuner.again if trial and one.settings == trial.settings]
            found += [abs(first - one) / ((first + one) / 2) for one in second if first and one]
        return max(found) if found else None

    @property
    def is_worth_it(self) -> bool:
        """Whether the gain is more than the noise."""
        if self.best is None or self.best is self.tuner.now or self.gain is None:
            return False
        return self.gain > 1.0 + max(0.03, (self.noise or 0.0) / 2)

    @property
    def change(self) -> Change | None:
        if not self.is_worth_it or self.place is None or self.best is None or self.tuner.now is None:
            return None
        return rewritten(*self.place, self.best.settings.arguments(self.tuner.now.settings))

    # -- for a person ---------------------------------------------------------------------------------------------

    def lines(self) -> list[Line]:
        if self.tuner.now is None or self.now_s is None:
            return self._nothing()
        return [*self._head(), [], *self._table(), [], *self._verdict(), *self._written(), *self._notes()]

    def _nothing(self) -> list[Line]:
        said = self.tuner.now.error if self.tuner.now is not None and self.tuner.now.error else "it ended too soon"
        return [[("  no setting could be measured: ", "bold yellow"), (said, "")], *self._notes()]

    def _head(self) -> list[Line]:
        loader = self.tuner.loader
        where = "" if self.place is None else f" at {shown_path(self.place[0])}:{self.place[1]}"
        over = f"DataLoader{where} over {type(loader.dataset).__name__}"
        size = "" if loader.batch_size is None else f", batches of {loader.batch_size}"
        head: list[Line] = [[("  " + over, "bold"), (f"{size}; {cpu_count()} processors", "")]]
        if self.now_s and self.free_s:
            free = f"{time_text(self.free_s)} with free data"
            share = max(1 - self.free_s / self.now_s, 0.0)
            head.append(
                [(f"  a step takes {time_text(self.now_s)}; it would take {free} ({share * 100:.0f}% is data)", "")]
            )
        return head

    def _table(self) -> list[Line]:
        trials = self.tuner.trials
        sizes = any(one.settings.batch_size != trials[0].settings.batch_size for one in trials)
        pins = any(one.settings.pin for one in trials)
        rate = "samples/s" if self._size(trials[0]) else "batches/s"
        columns = {"workers": True, "prefetch": True, "persist": True, "pinned": pins, "batch": sizes}
        heads = [*(name for name, is_shown in columns.items() if is_shown), "step", "waits", "start", "memory", rate]
        rows = [self._row(one, sizes, pins) for one in self._ordered()]
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines: list[Line] = [[("  " + _aligned(heads, widths), "dim")]]
        for trial, row in zip(self._ordered(), rows, strict=True):
            style = "bold green" if trial is self.best else ""
            said = trial.error or self._marks(trial)
            lines.append([("  " + _aligned(row, widths), style), (f"   {said}" if said else "", style or "bold")])
        return lines

    def _marks(self, trial: Trial) -> str:
        marks = {"now": trial is self.tuner.now, "best": trial is self.best}
        return ", ".join(mark for mark, is_so in marks.items() if is_so)

    def _ordered(self) -> list[Trial]:
        def key(one: Trial) -> tuple[Any, ...]:
            s = one.settings
            return s.batch_size or 0, s.workers, s.prefetch or 0, s.persistent, s.pin

        return sorted(self.tuner.trials, key=key)

    def _row(self, trial: Trial, sizes: bool, pins: bool) -> list[str]:
        s, step = trial.settings, self._step(trial)
        size = self._size(trial) or 1
        return [
            str(s.workers),
            "-" if s.prefetch is None else str(s.prefetch),
            "yes" if s.persistent else "-",
            *(["yes" if s.pin else "-"] if pins else []),
            *([str(s.batch_size)] if sizes else []),
            "-" if step is None else time_text(step),
            "-" if step is None else f"{min(trial.wait_s / step, 1.0) * 100:.0f}%",
            "-" if not trial.starts else time_text(trial.start_s),
            "-" if trial.memory_bytes is None else bytes_text(trial.memory_bytes),
            "-" if not step else f"{size / step:,.0f}" if size / step >= 10 else f"{size / step:.2g}",
        ]

    @staticmethod
    def _size(trial: Trial) -> int | None:
        return trial.settings.batch_size

    def _verdict(self) -> list[Line]:
        best, tuner = self.best, self.tuner
        if best is None or not self.is_worth_it:
            why = "" if best is tuner.now else ": the gains of others are within the noise"
            kept: Line = [("  keep the current settings: ", "bold green"), (f"no other setting was faster{why}", "")]
            return [kept, *self._why_no_workers()]
        count = sum(len(one.turns) for one in [best, *tuner.again] if one.settings == best.settings)
        measured = (
            f"{time_text(self.now_s or 0.0)} -> {time_text(self.best_s or 0.0)} a step, measured on {count} batches"
        )
        noise = "" if self.noise is None else f", ±{self.noise * 50:.0f}%"
        return [
            [("  best: ", "bold green"), (best.settings.text(), "bold"), (f"  {self.gain:.2g}x faster", "bold green")],
            [(f"  {measured}{noise}", "")],
            *_wrapped(self._enough()),
        ]

    def _why_no_workers(self) -> list[Line]:
        """What to do when no worker could load anything."""
        of_workers = [one for one in self.tuner.trials if one.settings.workers]
        if not of_workers or not all(one.error for one in of_workers):
            return []
        error = of_workers[0].error
        what = (
            "a dataset for spawned workers must be picklable: no lambdas, open files or local classes in it"
            if "pickle" in error.lower()
            else "the dataset must work in a separate process: open files and connections there, not before"
        )
        return [[("  no worker could be tried: ", "bold yellow"), (error, "")], *_wrapped(what)]

    def _enough(self) -> str:
        """How many workers are enough, or what is left to gain."""
        if self.free_s is None or self.best_s is None:
            return "the time of a step with free data is unknown"
        if self.best_s / self.free_s < 1.05:
            return f"that is enough: with free data a step takes {time_text(self.free_s)}, hardly less"
        waits = self.best.wait_s / self.best_s if self.best is not None else 1.0
        if waits < 0.05:
            return f"that is enough: training now waits for data {waits * 100:.0f}% of a step"
        most = max(one.settings.workers for one in self.tuner.trials)
        if not self.tuner.shares:
            what = "for more than one worker the stream must share its samples among them"
        elif self.best is not None and self.best.settings.workers == most and self.tuner.most_workers is not None:
            what = "more workers may still help: --max-workers"
        else:
            what = "the rest is in the dataset itself: 'stepscope profile' shows the stages of loading a batch"
        return f"with free data a step would take {time_text(self.free_s)}; {what}"

    def _written(self) -> list[Line]:
        if not self.is_worth_it or self.best is None or self.tuner.now is None:
            return []
        change = self.change
        if change is None:
            wanted = ", ".join(f"{k}={v!r}" for k, v in self.best.settings.arguments(self.tuner.now.settings).items())
            return [[], [("  give the DataLoader: ", ""), (wanted, "bold")]]
        lines: list[Line] = [[], [(f"  {shown_path(change.file)}:{change.line}", "cyan")]]
        lines += [[(f"  - {text}", "red")] for text in change.old]
        return lines + [[(f"  + {text}", "green")] for text in change.new]

    def _notes(self) -> list[Line]:
        lines = [line for note in self.tuner.notes for line in _wrapped(f"note: {note}", "dim")]
        return [[], *lines] if lines else []

    # -- for programs ---------------------------------------------------------------------------------------------

    def as_dict(self, script: str) -> dict[str, Any]:
        change, now = self.change, self.tuner.now
        differs = {} if self.best is None or now is None else self.best.settings.arguments(now.settings)
        return {
            "script": script,
            "place": None if self.place is None else {"file": self.place[0], "line": self.place[1]},
            "dataset": None if self.tuner.loader is None else type(self.tuner.loader.dataset).__name__,
            "batches_in_pass": self.tuner.length,
            "processors": cpu_count(),
            "step_s": {"now": self.now_s, "best": self.best_s, "free_data": self.free_s},
            "gain": self.gain if self.is_worth_it else 1.0 if self.now_s else None,
            "noise": self.noise,
            "change": differs if self.is_worth_it else {},
            "line": None if change is None else {"old": change.old, "new": change.new},
            "trials": [self._trial_dict(one) for one in self._ordered()],
            "notes": self.tuner.notes,
        }

    def _trial_dict(self, trial: Trial) -> dict[str, Any]:
        s = trial.settings
        return {
            "num_workers": s.workers,
            "prefetch_factor": s.prefetch,
            "persistent_workers": s.persistent,
            "pin_memory": s.pin,
            "batch_size": s.batch_size,
            "step_s": self._step(trial),
            "wait_s": trial.wait_s,
            "start_s": trial.start_s,
            "memory_bytes": trial.memory_bytes,
            "batches": len(trial.turns),
            "error": trial.error,
            "now": trial is self.tuner.now,
            "best": trial is self.best,
        }


def _wrapped(text: str, style: str = "") -> list[Line]:
    return [[(f"  {line}", style)] for line in textwrap.wrap(text, 76)]


def _aligned(cells: list[str], widths: list[int]) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
