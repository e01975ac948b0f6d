"""The debugger that `--pdb` and `stepscope.breakpoint` open: ipdb if it is there, else pdb, with commands for tensors.

t x          what x holds: shape, dtype, device, range, NaN, gradient (an expression will do: `t batch[0] - y`)
tensors      the same for every tensor variable here
layers       the model's layers and their parameters
"""

from __future__ import annotations

import importlib
import sys
from types import FrameType, TracebackType
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pdb as _pdb

    _Commands = _pdb.Pdb
else:
    _Commands = object

HINT = "stepscope: `t x` shows a tensor, `tensors` all tensors in this frame, `layers` the model; `q` quits"


class TensorCommands(_Commands):
    """What our debugger knows beyond pdb's own commands."""

    def do_t(self, arg: str) -> None:
        """t expression: what the tensors in it hold."""
        from stepscope.launch.tensor_lines import lines_of

        if not arg.strip():
            self.do_tensors("")
            return
        value = self._getval_except(arg, self._frame)  # pdb's own; gives a text if it fails
        if type(value).__name__ == "_rstr":
            self.error(str(value))
            return
        self._say(lines_of(arg.strip(), value))

    def do_tensors(self, arg: str) -> None:
        """tensors: every tensor among the variables of this frame."""
        from stepscope.launch.tensor_lines import line_of, tensors_by_name

        names = {name: value for name, value in self._values.items() if not name.startswith("__")}
        lines = [line_of(name, tensor) for name, tensor in tensors_by_name(names)]
        self._say(lines or ["there are no tensors in this frame; try `up`"])

    def do_layers(self, arg: str) -> None:
        """layers: the model nearest to this frame, layer by layer."""
        from stepscope.launch.tensor_lines import layer_lines

        inwards = [self._values, *(frame.f_locals for frame, _ in reversed(self.stack[: self.curindex]))]
        self._say(layer_lines(inwards))

    @property
    def _frame(self) -> FrameType:
        frame = self.curframe
        assert frame is not None
        return frame

    @property
    def _values(self) -> dict[str, Any]:
        return dict(self._frame.f_locals)

    def _say(self, lines: Any) -> None:
        for line in lines:
            self.message(line)


def debugger_class() -> Any:
    """ipdb's debugger if it can be imported, else Python's own, with our commands."""
    try:
        if sys.stdin is None or not sys.stdin.isatty():
            raise ImportError("ipdb needs a terminal")
        importlib.import_module("ipdb")
        base: Any = importlib.import_module("IPython.terminal.debugger").TerminalPdb
    except ImportError:
        base = importlib.import_module("pdb").Pdb
    return type("StepscopeDebugger", (TensorCommands, base), {"__doc__": TensorCommands.__doc__})


def _make(stdin: IO[str] | None, stdout: IO[str] | None) -> Any:
    kind = debugger_class()
    return kind() if stdin is None and stdout is None else kind(stdin=stdin, stdout=stdout)


def post_mortem(error: BaseException, *, stdin: IO[str] | None = None, stdout: IO[str] | None = None) -> bool:
    """Open a debugger in the innermost frame of the user's that the error went through; False if there is none.

    Frames of torch, Python and Stepscope are left out: `up` and `down` go through the user's own code.
    """
    trace = own_traceback(error.__traceback__)
    say = sys.stderr if stdout is None else stdout
    if "DataLoader worker" in str(error):
        print(
            "stepscope: this was raised in a worker process, whose frames are not available here; rerun with "
            "--no-workers --pdb to stop where it happens",
            file=say,
        )
    if trace is None:
        return False
    print(HINT, file=say)
    debugger = _make(stdin, stdout)
    debugger.reset()
    debugger.interaction(None, trace)
    return True


def own_traceback(trace: TracebackType | None) -> TracebackType | None:
    """The traceback with the user's own frames only; with a library's where there are none of the user's."""
    from stepscope.record.observers.own_frames import is_own
    from stepscope.record.sites import is_users

    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    for is_wanted in (is_own, is_users):
        chain: TracebackType | None = None
        for entry in reversed(entries):
            if is_wanted(entry.tb_frame.f_code):
                chain = TracebackType(chain, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
        if chain is not None:
            return chain
    return None


def stop_in(frame: FrameType, *, stdin: IO[str] | None = None, stdout: IO[str] | None = None) -> None:
    """Stop at the next line of this frame, however deep below it we are now."""
    debugger = _make(stdin, stdout)
    debugger.reset()
    outer: FrameType | None = frame
    while outer is not None:
        outer.f_trace = debugger.trace_dispatch
        debugger.botframe = outer
        outer = outer.f_back
    debugger.set_next(frame)  # `set_step` would stop inside our own functions on their way back
    if hasattr(debugger, "start_trace"):  # Python 3.14 and later
        debugger.start_trace()
    else:
        sys.settrace(debugger.trace_dispatch)
