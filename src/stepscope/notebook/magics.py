"""`%load_ext stepscope`: the magics `%stepscope …` and `%%stepscope …`."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from stepscope.errors import StepscopeError, UsageError
from stepscope.notebook import cells, displays, frame, panel

HELP = """\
%stepscope ui [DIR ...] [--height N] [--host NAME]   the browser app, below the cell
%stepscope ui --stop                                 end the server behind it
%stepscope runs [QUERY]                              a table of runs: status = failed, loss.min < 0.3 ...
%stepscope show [RUN]                                one run: name, id or `last`
%stepscope panel on|off                              the live panel of stepscope.init()

%%stepscope check                                    a few batches of the cell's training with every check on
%%stepscope run [NAME]                               all of it, watched and recorded as a run
%%stepscope record [VARIABLE] [--stats]              every operation of the cell, as a step
%%stepscope profile [VARIABLE]                       where the cell's time goes, and what to change

--dir DIR after `runs` or `show` looks in another folder than stepscope-runs."""


def load(shell: Any) -> None:
    """Implements `%load_ext stepscope`."""
    magic = Magic(shell)
    shell.register_magic_function(magic, magic_kind="line_cell", magic_name="stepscope")
    displays.install(shell)


def unload(shell: Any) -> None:
    """Implements `%unload_ext stepscope`."""
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("stepscope", None)
    displays.remove(shell)
    frame.stop()


class Magic:
    """One object for both kinds. User errors are shown in one line, without a traceback."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self.__doc__ = HELP

    def __call__(self, line: str, cell: str | None = None) -> None:
        __tracebackhide__ = True
        try:
            words = shlex.split(line)
        except ValueError as fault:
            self._refuse(f"{line!r} cannot be read: {fault}; check the quotes")
        try:
            if cell is None:
                self._line(words, line)
            else:
                self._cell(words, cell)
        except StepscopeError as fault:
            self._refuse(str(fault))

    def _refuse(self, words: str) -> None:
        refusal = sys.modules["IPython.core.error"].UsageError  # IPython prints it in one line
        raise refusal(words) from None

    def _display(self, thing: Any) -> None:
        sys.modules["IPython.display"].display(thing)

    def _html(self, html: str) -> None:
        shown = sys.modules["IPython.display"]
        shown.display({"text/html": html, "text/plain": "Stepscope"}, raw=True)

    # -- %stepscope -----------------------------------------------------------------------------------------------

    def _line(self, words: list[str], line: str) -> None:
        what, rest = (words[0], words[1:]) if words else ("help", [])
        if what == "ui":
            self._ui(rest)
        elif what == "runs":
            store, rest = _taken(rest, "--dir")
            self._runs(" ".join(rest), store)
        elif what == "show":
            store, rest = _taken(rest, "--dir")
            self._show(" ".join(rest) or "last", store)
        elif what == "panel":
            self._panel(rest)
        elif what in ("help", "-h", "--help", "?"):
            print(HELP)  # noqa: T201
        else:
            cell = "; it is a cell magic: write %%stepscope" if what in ("check", "run", "record", "profile") else ""
            raise UsageError(f"there is no %stepscope {what}{cell}\n{HELP}")

    def _ui(self, words: list[str]) -> None:
        if "--stop" in words:
            count = frame.stop()
            print("the server has ended" if count else "no server was running")  # noqa: T201
            return
        height, words = _taken(words, "--height")
        host, words = _taken(words, "--host")
        if height is not None and not height.isdecimal():
            raise UsageError(f"--height {height!r} is not a number of pixels; use for example --height 720")
        if any(word.startswith("-") for word in words):
            raise UsageError(f"{words[0]!r} is unknown here; %stepscope ui takes folders, --height, --host and --stop")
        self._html(frame.open_frame(cells.stores(words), int(height or frame.HEIGHT), host or "localhost"))

    def _runs(self, query: str, store: str | None) -> None:
        import stepscope

        self._display(stepscope.runs(cells.stores([store] if store else [])[0], query))

    def _show(self, run: str, store: str | None) -> None:
        import stepscope

        self._display(stepscope.run(run, cells.stores([store] if store else [])[0]))

    def _panel(self, words: list[str]) -> None:
        if words not in (["on"], ["off"]):
            raise UsageError("write %stepscope panel on, or %stepscope panel off")
        panel.switch(words == ["on"])
        print(f"the panel of stepscope.init() is {words[0]} from the next run on")  # noqa: T201

    # -- %%stepscope ----------------------------------------------------------------------------------------------

    def _cell(self, words: list[str], code: str) -> None:
        __tracebackhide__ = True
        what, rest = (words[0], words[1:]) if words else ("", [])
        stats = "--stats" in rest
        rest = [word for word in rest if word != "--stats"]
        name = rest[0] if rest else None
        if what in ("record", "profile") and name is not None and not name.isidentifier():
            raise UsageError(f"{name!r} cannot be the name of a variable; write %%stepscope {what} step")
        if len(rest) > 1 or what not in ("check", "run", "record", "profile"):
            raise UsageError(f"%%stepscope {' '.join(words)} is not known\n{HELP}")
        if what == "record":
            cells.record_cell(self._shell, code, self._display, name, stats)
        elif what == "profile":
            cells.profile_cell(self._shell, code, self._display, name)
        else:
            cells.check_cell(self._shell, code, self._display, whole=what == "run", name=name)


def _taken(words: list[str], option: str) -> tuple[str | None, list[str]]:
    """An option's value, and the words without either."""
    for at, word in enumerate(words):
        if word == option:
            if at + 1 == len(words):
                raise UsageError(f"{option} needs a value; write it after the option")
            return words[at + 1], words[:at] + words[at + 2 :]
        if word.startswith(option + "="):
            return word.partition("=")[2], words[:at] + words[at + 1 :]
    return None, words
