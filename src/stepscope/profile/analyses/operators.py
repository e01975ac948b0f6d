"""Operators: what each took on the host and on devices, by name and by the shapes it was called with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.table import Filled, column, mean, share, sheet_of
from stepscope.profile.trace.events import narrowed
from stepscope.profile.trace.groups import Groups, group, index_of
from stepscope.profile.trace.kernel_names import can_use_tensor_cores
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.op_lines import carriers_of, line_text, stack_text, top_lines
from stepscope.profile.trace.own_lines import own_lines
from stepscope.profile.trace.shape_texts import plain_dims, plain_types
from stepscope.profile.trace.times import OpTimes, op_times, outermost_of_name
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Sheet

if TYPE_CHECKING:
    from stepscope.profile.profile import Profile

Values = npt.NDArray[Any]


@analysis("operators", view="operators", of="profile")
def operators_of(profile: Profile, rank: int = 0) -> Sheet | None:
    """Operators by name: time on the host and on devices, their own and with what they call; tensor cores."""
    trace = profile.trace(rank)
    return None if trace is None else operators(trace, profile.facts(rank))


@analysis("operators-by-shape", view="operators", of="profile")
def operators_by_shape_of(profile: Profile, rank: int = 0) -> Sheet | None:
    """Operators by name and the shapes and types of their inputs."""
    trace = profile.trace(rank)
    return None if trace is None else operators_by_shape(trace, profile.facts(rank))


@analysis("operators-by-line", view="operators", of="profile")
def operators_by_line_of(profile: Profile, rank: int = 0) -> Sheet | None:
    """Operators by name and the line of your code they come from, with the lines that led there."""
    trace = profile.trace(rank)
    return None if trace is None else operators_by_line(trace, profile.facts(rank))


def operators(trace: Trace, facts: Mapping[str, Any] | None = None) -> Sheet | None:
    """The sheet by name. `facts`: what a collector wrote beside the trace; with it, lines are exact."""
    ops = trace.once(_ops)
    if not len(ops):
        return None
    groups = index_of(trace.events.name[ops], len(trace.events.names))
    return _sheet("operators", "Operators", trace, ops, groups, last=_line_column(trace, facts or {}, ops, groups))


def operators_by_shape(trace: Trace, facts: Mapping[str, Any] | None = None) -> Sheet | None:
    """The sheet by name, shapes and types; None without recorded shapes."""
    events = trace.events
    if "Input Dims" not in events.args:
        return None
    ops, times = trace.once(_ops), op_times(trace)
    if not len(ops):
        return None
    calls = times.rows[times.stands_for[times.place[ops]]]
    dims, types = events.text_index("Input Dims")[calls], events.text_index("Input type")[calls]
    groups = group(events.name[ops], dims, types)
    first = groups.first
    by = [
        column("shapes", "Input shapes", _texts(trace, dims[first], plain_dims),
               help="The sizes of its tensor inputs; a scalar is left empty."),
        column("types", "Input types", _texts(trace, types[first], plain_types),
               help="The dtypes of its tensor inputs."),
    ]  # fmt: skip
    lines = _line_column(trace, facts or {}, ops, groups)
    return _sheet("operators-by-shape", "Operators by shape", trace, ops, groups, by=by, last=lines)


def operators_by_line(trace: Trace, facts: Mapping[str, Any] | None = None) -> Sheet | None:
    """The sheet by name and line; None without stacks."""
    ops, found = trace.once(_ops), own_lines(trace, facts or {})
    if found is None or not len(ops):
        return None
    carrier = carriers_of(trace, found, ops)
    groups = group(trace.events.name[ops], np.where(carrier >= 0, found.key[carrier], -1))
    leading = groups.leading(carrier, _weights(trace)).tolist()
    lines = [line_text(found, int(found.key[one])) if one >= 0 else None for one in leading]
    stacks = [stack_text(found, one) if one >= 0 else None for one in leading]
    by = [column("line", "Line", lines, "line", "The line of your own code it comes from; of backward, of forward.")]
    last = [column("stack", "Call stack", stacks, help="The lines of your own code that led there, outermost first.")]
    return _sheet("operators-by-line", "Operators by line", trace, ops, groups, by=by, last=last)


def _sheet(
    id: str, title: str, trace: Trace, ops: Values, groups: Groups, *,
    by: Sequence[Filled] = (), last: Sequence[Filled] = (),
) -> Sheet:  # fmt: skip
    """Operators in groups; `by` tells the groups of one name apart, `last` is what else is known of them."""
    found = trace.once(_figures).sums(groups)
    labels = [trace.events.names[i] for i in trace.events.name[ops[groups.first]].tolist()]
    columns = [
        column("name", "Operator", labels, help="Torch's name for it."),
        *by,
        *_time_columns(trace, found),
        *_tensor_core_columns(trace, found, labels),
        *last,
    ]
    sort = "device_self_ns" if trace.has_device else "host_self_ns"
    return sheet_of(
        id, title, columns, sort=sort, then="host_self_ns", checks=_checks(trace, found), notes=_notes(trace)
    )


def _ops(trace: Trace) -> Values:
    """Operators that have a length (not those a torn trace has only the beginning of)."""
    rows = op_times(trace).rows
    return np.asarray(rows[trace.kind[rows] == Kind.OP.value])


def _texts(trace: Trace, indexes: Values, plain: Callable[[str], str]) -> list[str | None]:
    texts = trace.events.texts
    return [plain(texts[i]) if i >= 0 else None for i in indexes.tolist()]


@dataclass(frozen=True)
class _Figures:
    """One value an operator, or one a group. Those of operators may be int32: widen them before arithmetic."""

    calls: Values
    host_self: Values
    host_total: Values
    runtime: Values
    device_self: Values
    device_total: Values
    tensor_core: Values

    def sums(self, groups: Groups) -> _Figures:
        return _Figures(*(groups.sums(getattr(self, one.name)) for one in fields(self)))


def _figures(trace: Trace) -> _Figures:
    """Of each operator what it adds to its group; nothing is added twice."""
    times, ops = op_times(trace), trace.once(_ops)
    at = times.place[ops]
    outer = outermost_of_name(trace, ops)
    return _Figures(
        times.stands_for[at] == at,
        times.self_ns[at],
        narrowed(np.where(outer, trace.events.dur[ops], 0)),
        times.runtime_ns[at],
        times.device_self_ns[at],
        narrowed(np.where(outer, times.device_ns[at], 0)),
        narrowed(_on_tensor_cores(trace, times)[at]),
    )


def _on_tensor_cores(trace: Trace, times: OpTimes) -> Values:
    """Of each operator: the time of its own kernels that ran on tensor cores."""
    kernels = trace.rows(Kind.KERNEL)
    kernels = kernels[trace.is_tensor_core[kernels]]
    at = trace.device_op[kernels]
    linked = at >= 0
    return np.bincount(times.place[at[linked]], trace.events.dur[kernels[linked]], len(times.rows)).astype(np.int64)


def _time_columns(trace: Trace, found: _Figures) -> list[Filled]:
    columns = [
        column("calls", "Calls", found.calls, "count", "How often it was called.", sums=True),
        column("host_self_ns", "Host self", found.host_self, "ns",
               "Time on the host in the operator itself: without operators, named ranges and runtime calls inside it.",
               sums=True),
        column("host_total_ns", "Host total", found.host_total, "ns",
               "Time on the host including all it calls; recursive calls are counted once."),
        column("host_mean_ns", "Host mean", mean(found.host_total, found.calls), "ns",
               "Host total for each call.", hidden=True),
        column("host_share", "Host share", share(found.host_self, float(found.host_self.sum())), "share",
               "Its host self time as a share of all operators'.", hidden=trace.has_device),
    ]  # fmt: skip
    if not trace.has_device:
        return columns
    device = float(trace.events.dur[trace.device_rows].sum())
    return [
        *columns,
        column("runtime_ns", "In the runtime", found.runtime, "ns",
               "Time on the host in runtime calls that it made itself: launches, copies, waits.", hidden=True,
               sums=True),
        column("device_self_ns", "Device self", found.device_self, "ns",
               "Time of the kernels and copies that it launched itself.", sums=True),
        column("device_total_ns", "Device total", found.device_total, "ns",
               "Time of the kernels and copies that it and what it calls launched."),
        column("device_mean_ns", "Device mean", mean(found.device_self, found.calls), "ns",
               "Device self time for each call.", hidden=True),
        column("device_share", "Device share", share(found.device_self, device), "share",
               "Its device self time as a share of all work on devices."),
    ]  # fmt: skip


def _tensor_core_columns(trace: Trace, found: _Figures, labels: list[str]) -> list[Filled]:
    if not trace.has_device:
        return []
    eligible = [can_use_tensor_cores(name) for name in labels]
    used = np.where(np.array(eligible) | (found.tensor_core > 0), mean(found.tensor_core, found.device_self), np.nan)
    return [
        column("tensor_core_eligible", "TC eligible", eligible, "flag",
               "Whether tensor cores can run it: matrix products, convolutions, attention.",
               hidden=True),
        column("tensor_core_share", "Tensor cores", used, "share",
               "The share of its device self time in kernels that ran on tensor cores, by the kernels' names."),
    ]  # fmt: skip


def _line_column(trace: Trace, facts: Mapping[str, Any], ops: Values, groups: Groups) -> list[Filled]:
    lines = top_lines(trace, facts, ops, groups, _weights(trace))
    if lines is None:
        return []
    help = "The line of your own code that most of its time comes from; of backward, the line of forward."
    return [column("line", "Line", lines, "line", help)]


def _weights(trace: Trace) -> Values:
    """What makes one line represent several: time on the device, or else on the host."""
    figures = trace.once(_figures)
    if not trace.has_device:
        return figures.host_self
    return np.asarray(figures.device_self.astype(np.int64) * 1000 + figures.host_self)


def _checks(trace: Trace, found: _Figures) -> list[Check]:
    times = op_times(trace)
    is_op = trace.kind[times.rows] == Kind.OP.value
    # Adding the nested up must give what the outermost span: the other way to the same number.
    outer = times.rows[is_op & (trace.op_parent[times.rows] < 0)]
    checks = []
    inside = int(found.host_self.sum() + found.runtime.sum()) + _between(trace, times)
    expected = int(trace.events.dur[outer].sum())
    near = abs(inside - expected) <= max(1000, expected // 1000)
    checks.append(Check(name="self times sum to the outer operators", got=inside, expected=expected, ok=near))
    if trace.has_device:
        work = trace.device_rows
        all_work = int(trace.events.dur[work].sum())
        unlinked = int(trace.events.dur[work[trace.device_op[work] < 0]].sum())
        got = int(found.device_self.sum())
        checks.append(Check(name="device time equals the kernels'", got=got + unlinked, expected=all_work,
                            ok=got + unlinked == all_work,
                            detail=f"{_percent(unlinked, all_work)} of it was launched by no operator"))  # fmt: skip
    return checks


def _between(trace: Trace, times: OpTimes) -> int:
    """Named ranges inside operators: their own time and their runtime calls belong to no operator."""
    ranges = np.flatnonzero((trace.kind[times.rows] == Kind.ANNOTATION.value) & (trace.op_parent[times.rows] >= 0))
    return int(times.self_ns[ranges].sum()) + int(times.runtime_ns[ranges].sum())


def _notes(trace: Trace) -> list[str]:
    if not trace.has_device:
        return []
    work = trace.device_rows
    total = int(trace.events.dur[work].sum())
    unlinked = int(trace.events.dur[work[trace.device_op[work] < 0]].sum())
    if not unlinked:
        return []
    return [f"{_percent(unlinked, total)} of the time on devices belongs to no operator (graphs, other threads, "
            "launched before the trace began); it is in the kernels' table"]  # fmt: skip


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "0%"
