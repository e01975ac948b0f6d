from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from stepscope.errors import UsageError
from stepscope.inspect.step import Step
from stepscope.inspect.visit import OpView
from stepscope.records.step import Cost, Op, Stats, StepRecord, TensorRef as Ref


class Counter:
    """A visitor that is an object."""

    def __init__(self) -> None:
        self.parameters: set[str | None] = set()

    def __call__(self, op: OpView) -> None:
        self.parameters |= {tensor.name for tensor in op.parameters}


def test_any_callable_visits_the_ops_in_order(step: Step) -> None:
    names: list[str] = []
    step.visit(lambda op: names.append(op.name))
    assert names == ["linear", "linear", "mystery", "mean", "MysteryBackward0", "AccumulateGrad", "add_"]
    counter = Counter()
    step.visit(counter)
    assert counter.parameters == {"block.0.weight", "head.weight"}
    with pytest.raises(UsageError, match="expected a function"):
        step.visit("print")  # type: ignore[arg-type]


def test_an_op_prints_as_one_line(step: Step) -> None:
    assert str(step[1]) == (
        "    1  forward    block.0 call 2                linear: 2×4, block.0.weight 4×4 -> 2×4  20 us  net.py:10"
    )
    assert str(step[6]).endswith(
        "add_: head.weight 1×4, grad of head.weight 1×4 -> head.weight 1×4 (in place)  3 us  train.py:5"
    )


def test_ops_know_their_neighbours(step: Step) -> None:
    assert [op.index for op in step[1].sources] == [0]
    assert [op.index for op in step[2].backward] == [4]
    back = step[4]
    assert back.forward is not None
    assert (back.forward.index, back.module, back.site and back.site.line) == (2, "head", 12)
    assert step[0].module_type == "Linear"


def test_print_shows_forward_backward_and_the_summary_as_asked(step: Step, capsys: pytest.CaptureFixture[str]) -> None:
    step.print()
    whole = capsys.readouterr().out
    assert "forward  block.0 (Linear), call 2" in whole
    assert "     4 MysteryBackward0  16 FLOPs  4 us  net.py:12  of op 2 mystery" in whole
    assert "Net: 7 ops in 60 us with the recording\n  22 parameters, 6 trainable\n  130 FLOPs forward" in whole
    step.print(summary=False, backward=False)
    short = capsys.readouterr().out
    assert "Backward0" not in short
    assert "parameters" not in short


def test_a_step_survives_saving_and_is_read_without_torch(step: Step, tmp_path: Path) -> None:
    path = step.save(tmp_path / "one.step")
    assert Step.load(path).record == step.record
    code = (
        f"import sys; from stepscope.inspect.step import Step; s = Step.load({str(path)!r});"
        "str(s.table()); s.table(by='op').to_csv(); s._repr_html_(); s.visit(str);"
        "print('torch' in sys.modules, len(s))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False 7"


def test_a_step_still_being_recorded_says_so() -> None:
    def pending() -> StepRecord:
        raise UsageError("the step is still being recorded")

    step = Step(pending)
    assert repr(step) == "<a step, being recorded>"
    with pytest.raises(UsageError, match="still being recorded"):
        len(step)


def with_stats(record: StepRecord, stats: dict[int, tuple[Stats | None, Stats]]) -> Step:
    ops = tuple(
        msgspec.structs.replace(op, input_stats=(stats[op.index][0],), output_stats=(stats[op.index][1],))
        if op.index in stats
        else op
        for op in record.ops
    )
    return Step(msgspec.structs.replace(record, ops=ops))


def test_the_first_bad_value_that_reaches_the_loss_is_named(record: StepRecord, finite: Stats) -> None:
    bad = Stats(numel=8, nan=3)
    step = with_stats(record, {0: (finite, finite), 1: (finite, bad), 2: (bad, bad), 3: (bad, Stats(numel=1, nan=1))})
    found = step.first_nonfinite()
    assert found is not None
    assert (found.op.index, found.kind, found.reaches) == (1, "forward", "the loss")
    assert str(found).split("\n") == [
        "NaN born in linear (op 1) in block.0",
        "  at /home/me/net.py:10 in Net.forward",
        "      x = self.block(x)",
        "  read  intermediate (2x4 float32): finite, 4 values, from -1 to 1",
        "  read  block.0.weight (4x4 float32): not recorded",
        "  made  intermediate (2x4 float32): 3 NaN of 8",
        "  it reaches the loss",
    ]


def test_a_mask_that_goes_nowhere_is_not_harmful(record: StepRecord, finite: Stats) -> None:
    mask = Stats(numel=8, neg_inf=3, min=0.0)
    step = with_stats(record, {0: (finite, mask), 1: (mask, finite), 2: (finite, finite), 3: (finite, finite)})
    found = step.first_nonfinite()
    assert found is not None
    assert (found.op.index, found.harmful) == (0, False)


def test_bad_data_from_outside_is_told_apart(record: StepRecord, finite: Stats) -> None:
    bad = Stats(numel=8, nan=1)
    found = with_stats(record, {0: (bad, bad), 1: (bad, finite)}).first_nonfinite()
    assert found is not None
    assert found.kind == "input"


def test_finite_steps_have_no_first_bad_value_and_unmeasured_ones_say_how(record: StepRecord, finite: Stats) -> None:
    assert with_stats(record, {0: (finite, finite)}).first_nonfinite() is None
    with pytest.raises(UsageError, match=r"stepscope\.record\(model, stats=True\)"):
        Step(record).first_nonfinite()


def test_gradients_are_named_by_what_they_are_of(record: StepRecord, finite: Stats) -> None:
    bad = Stats(numel=4, pos_inf=1)
    ops = list(record.ops)
    ops[4] = msgspec.structs.replace(ops[4], input_stats=(finite,), output_stats=(bad,))
    found = Step(msgspec.structs.replace(record, ops=tuple(ops))).first_nonfinite()
    assert found is not None
    assert found.reaches == "the gradient of head.weight"


def test_an_empty_step_has_empty_views(capsys: pytest.CaptureFixture[str]) -> None:
    step = Step(StepRecord(ops=(Op(index=0, name="randn", phase="setup", outputs=(Ref(9),)),)))
    assert len(step.table(by="op")) == 1
    assert [one["module"] for one in Step(StepRecord()).table()] == []
    Step(StepRecord()).print()
    assert "recorded code: 0 ops" in capsys.readouterr().out


def test_arguments_read_like_code_and_lines_like_names(record: StepRecord) -> None:
    args = {"index": [{"tensor": 1}, {"slice": [None, 5, 2]}], "value": 0.0010000000000000009, "out": None}
    changed = Step(msgspec.structs.replace(record, ops=(msgspec.structs.replace(record.ops[0], args=args),)))
    table = changed.table(by="op", columns=["args", "line"])
    assert table[0]["args"] == "index=[tensor, :5:2], value=0.001"
    assert table.rows[0].cells["line"].endswith("/net.py:10") or table.rows[0].cells["line"] == "net.py:10"
    assert str(table).split("\n")[3].split()[-1] == "net.py:10"


def test_forward_flops_leave_out_the_update(record: StepRecord, capsys: pytest.CaptureFixture[str]) -> None:
    update = msgspec.structs.replace(record.ops[6], cost=Cost(flops=1000))
    Step(msgspec.structs.replace(record, ops=(*record.ops[:6], update))).print()
    assert "  130 FLOPs forward" in capsys.readouterr().out


def test_kinds_of_op_are_ranked_by_time_alone(step: Step) -> None:
    times = [row["time_us"] or 0 for row in step.table(by="type")]
    assert times == sorted(times, reverse=True)


def test_a_module_with_nothing_known_has_unknown_flops(record: StepRecord) -> None:
    free = msgspec.structs.replace(record.ops[3], phase="forward", module="head", cost=Cost(flops=0))
    step = Step(msgspec.structs.replace(record, ops=(*record.ops[:3], free)))
    assert next(row for row in step.table() if row["module"] == "head")["flops"] is None


def test_long_lines_are_folded_on_a_narrow_terminal(record: StepRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    args = {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "groups": 1}
    op = msgspec.structs.replace(record.ops[0], args=args)
    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("COLUMNS", "70")
    Step(msgspec.structs.replace(record, ops=(op,))).print(summary=False)
    lines = out.getvalue().split("\n")
    assert max(map(len, lines)) < 100  # colours included
    assert any("net.py:10" in line for line in lines)


def test_without_torch_the_install_line_is_given() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\nimport stepscope\n"
        "for name in ('record', 'summary', 'profile_layers', 'trace_values', 'time_steps', 'watch_layers'):\n"
        "    try:\n        getattr(stepscope, name)(None)\n"
        "    except stepscope.StepscopeError as fault:\n        print(fault)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(out) == 6
    assert out[0] == "stepscope.record needs torch, which is not installed; run: pip install 'stepscope[torch]'"
