"""From a script and options to the end of the process: what `stepscope run` does."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

from stepscope import fence
from stepscope.events import Installed
from stepscope.launch.exit_handling import LastWord, say_uncaught, wait_for_threads, without_our_frames
from stepscope.launch.limits import is_stop
from stepscope.launch.options import Options
from stepscope.launch.script import Script, end_stacks_at_script, run_as_main, take_place
from stepscope.launch.session import Session
from stepscope.launch.sessions import run_session
from stepscope.launch.verdict import is_success


def launch(script: Script, options: Options, make: Callable[[Script, Options], Session] = run_session) -> None:
    """Run it and leave with its exit code, by SystemExit, after everything Python itself would do.

    `make` gives the session that stands around it: `stepscope data` has one of its own.
    Returns only when the script has ended well and nothing stands against an exit code of 0.
    """
    last_word = LastWord()
    take_place(script)  # before the run is opened: its project and script are named after it
    session = make(script, options)
    if options.debugpy is not None:
        from stepscope.launch.debugpy_wait import wait_for_editor

        wait_for_editor(options.debugpy)
    fence.fenced("preparing the launch")(session.begin)()
    _spare_the_collector()
    error = _ending_of(script)
    if error is not None and not isinstance(error, SystemExit):
        _fail(session, error, last_word)
    wait_for_threads()
    fence.fenced("concluding")(session.conclude)(error)
    if not is_success(error):
        assert isinstance(error, SystemExit)
        sys.exit(error.code)
    if session.exit_code:
        sys.exit(session.exit_code)
    if error is not None:
        sys.exit(error.code)  # type: ignore[attr-defined]


def _spare_the_collector() -> None:
    """What we have loaded stays until the end: the garbage collections of the script need not walk over it each time.

    Only in a process that holds nothing but us. Importing torch runs the collector some hundred times.
    """
    if "torch" not in sys.modules:
        gc.freeze()


def _ending_of(script: Script) -> BaseException | None:
    """Run it; what ended it, or None. Nothing may be raised while an exception is handled here: it would be linked."""
    installed = Installed()
    end_stacks_at_script(installed)
    try:
        run_as_main(script)
    except BaseException as error:
        return None if is_stop(error) else error
    finally:
        installed.remove()
    return None


def _fail(session: Session, error: BaseException, last_word: LastWord) -> None:
    """An uncaught exception or Ctrl-C: said as Python says it, and explained below, next to the prompt."""
    with session.around.reporter.after() as say_ours:
        fence.fenced("concluding")(session.conclude)(error)
        without_our_frames(error)
        say_uncaught(error, short=session.around.keeps_traceback)
        say_ours()
    if session.options.pdb and isinstance(error, Exception):
        from stepscope.launch.debugger import post_mortem

        fence.fenced("the debugger")(post_mortem)(error)
    session.close(error)
    if isinstance(error, KeyboardInterrupt):
        last_word.interrupted()
    sys.exit(1)
