from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import msgspec
import pytest

from stepscope.errors import UsageError
from stepscope.inspect.printing import as_text
from stepscope.inspect.step import Step
from stepscope.records.step import ModuleCall, ModuleInfo, Op, StepRecord

BY_MODULE = """\
Net: 7 ops  all float32 on cpu
module                       type           input  output  params  trainable  FLOPs  forward  backward     time  saved
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
Net                          Net            2×4    2×1         22          6    128    35 us    4.5 us  39.5 us   32 B
├─ block (2 calls)           Sequential     2×4    2×4         16         no    128    30 us         -    30 us   32 B
│  └─ 0 (2 calls)            Linear         2×4    2×4         16         no    128    30 us         -    30 us   32 B
├─ head                      Linear         2×4    2×1          4        yes      -     5 us    4.5 us   9.5 us      0
├─ again (shared: is block)  Sequential     -      -            -          -      -        -         -        -      -
└─ spare (not called)        <b>Linear</b>  -      -            2        yes      -        -         -        -      -
(loss)                                      -      -            -          -      2     1 us         -     1 us      -
(optimizer)                                 -      -            -          -      -        -         -     3 us      -
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
total                                                          22          6    130    36 us    4.5 us  43.5 us   32 B
FLOPs exclude 1 op without a formula: mystery
missed by the recording: inside scripted code in head (2×)"""


def row(step: Step, name: str, **options: object) -> dict[str, object]:
    table = step.table(**options)  # type: ignore[arg-type]
    return next(one for one in table if one[table.columns[0]] == name)


def test_prints_modules_as_a_tree_in_the_order_they_ran(step: Step) -> None:
    text = str(step.table())
    assert text == BY_MODULE


def test_backward_counts_for_the_module_of_its_forward_op_and_of_its_parameter(step: Step) -> None:
    assert row(step, "head")["backward_us"] == 4.5
    assert row(step, "head")["backward_flops"] == 16
    assert row(step, "")["time_us"] == 39.5


def test_depth_keeps_what_is_inside(step: Step) -> None:
    shallow = step.table(depth=0)
    assert [one["module"] for one in shallow] == ["", "(loss)", "(optimizer)"]
    assert shallow[0]["params"] == 22
    assert [one["module"] for one in step.table(depth=1)][:3] == ["", "block", "head"]


def test_a_module_called_inside_itself_counts_once_and_says_so() -> None:
    record = StepRecord(
        model="Tree",
        ops=(
            Op(
                index=0,
                name="relu",
                phase="forward",
                module="node",
                call=1,
                cost=msgspec.convert({"host_us": 7.0}, _cost()),
            ),
        ),
        modules=(ModuleInfo(path="", type="Tree"), ModuleInfo(path="node", type="Node")),
        calls=(
            ModuleCall(path="", call=0, first_op=0, last_op=0),
            ModuleCall(path="node", call=0, parent=0, first_op=0, last_op=0),
            ModuleCall(path="node", call=1, parent=1, first_op=0, last_op=0),
        ),
    )
    table = Step(record).table()
    assert table[1]["time_us"] == 7.0
    assert table.rows[1].mark == "2 calls, recursive"


def _cost() -> type:
    from stepscope.records.step import Cost

    return Cost


def test_other_groupings_add_up_to_the_same_time(step: Step) -> None:
    for by in ("op", "line", "phase", "type"):
        table = step.table(by=by)  # type: ignore[arg-type]
        assert sum(one["time_us"] for one in table) == pytest.approx(43.5), by
    assert [one["phase"] for one in step.table(by="phase")] == ["forward", "loss", "backward", "optimizer"]
    assert step.table(by="type")[0]["op"] == "linear"


def test_lines_take_the_backward_of_their_ops(step: Step) -> None:
    line = row(step, "/home/me/net.py:12", by="line")
    assert (line["forward_us"], line["backward_us"], line["source"]) == (5.0, 4.0, "return self.head(x)")


def test_sort_is_largest_first_and_can_be_turned(step: Step) -> None:
    assert [one["index"] for one in step.table(by="op", sort="time_us")][:3] == [1, 0, 2]
    assert step.table(by="op", sort="-time_us")[0]["op"] == "AccumulateGrad"


def test_chosen_columns_come_in_the_order_asked(step: Step) -> None:
    table = step.table(columns="macs, params")
    assert table.columns == ["module", "macs", "params"]
    assert str(table).split("\n")[1].split() == ["module", "MACs", "params"]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100])
def test_fits_the_width_and_says_what_was_left_out(step: Step, width: int) -> None:
    text = as_text(step.table(), width)
    body = text.split("\n")
    assert max(map(len, body)) <= width
    assert "omitted to fit" in text
    assert "block" in text


def test_a_column_may_be_asked_for_as_it_is_headed(step: Step) -> None:
    assert step.table(columns="time, FLOPs").columns == step.table(columns="time_us, flops").columns


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": "layer"}, "by is 'layer'; expected 'module', 'op'"),
        ({"columns": ["flop"]}, "there is no column 'flop' here; there are module, "),
        ({"sort": "speed"}, "cannot sort by 'speed'; the columns are module, "),
    ],
)
def test_wrong_options_say_what_there_is(step: Step, options: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError) as error:
        step.table(**options)  # type: ignore[arg-type]
    assert words in str(error.value)


def test_csv_has_raw_values_and_no_formulas(step: Step, tmp_path: Path, record: StepRecord) -> None:
    text = step.table(by="op").to_csv(tmp_path / "ops.csv")
    assert (tmp_path / "ops.csv").read_text() == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert (rows[0]["input"], rows[0]["output"], rows[0]["time_us"]) == ("2x4", "2x4", "10.0")
    assert rows[3]["output"] == "scalar"
    evil = msgspec.structs.replace(record, ops=(msgspec.structs.replace(record.ops[0], name="=cmd()"),))
    assert Step(evil).table(by="op").to_csv().split("\n")[1].startswith("'=cmd()")


def test_json_and_pandas_have_every_column(step: Step) -> None:
    table = step.table()
    read = json.loads(table.to_json())
    assert read["rows"][1]["input"] == [[2, 4]]
    assert read["totals"]["flops"] == 130
    frame = table.to_pandas()
    assert list(frame.columns) == table.columns
    assert frame.loc[0, "params"] == 22


def test_html_escapes_what_the_step_says(step: Step) -> None:
    html = step._repr_html_()
    assert "<b>Linear" not in html
    assert "&lt;b&gt;Linear&lt;/b&gt;" in html
    assert html.count("<tr") == 2 + 8


def test_escape_sequences_in_a_saved_step_do_not_reach_the_terminal(record: StepRecord) -> None:
    evil = msgspec.structs.replace(
        record, model="Net\x1b]52;c;ZXZpbA==\x07", modules=(ModuleInfo(path="", type="\x1b[31mN"),)
    )
    text = str(Step(evil).table())
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_loss_module_beside_the_model_is_a_tree_of_its_own() -> None:
    import torch
    from torch import nn

    from stepscope.inspect.recording import record

    model, criterion = nn.Sequential(nn.Linear(4, 3)), nn.CrossEntropyLoss()
    with record(model) as step:
        criterion(model(torch.zeros(2, 4)), torch.zeros(2, dtype=torch.int64)).backward()
    table = step.table()
    assert [(row.level, row.label) for row in table.rows][:3] == [(0, "Sequential"), (1, "0"), (0, "CrossEntropyLoss")]
    flops = {row["module"]: row["flops"] for row in table}
    assert flops[""] == 2 * 2 * 4 * 3
    assert flops["CrossEntropyLoss"] > 0


def test_a_damaged_step_neither_hangs_nor_breaks_the_table(record: StepRecord) -> None:
    calls = tuple(msgspec.structs.replace(call, parent=index) for index, call in enumerate(record.calls))
    ops = tuple(msgspec.structs.replace(op, forward=op.index + 900, site=77, inputs=op.outputs) for op in record.ops)
    damaged = Step(msgspec.structs.replace(record, calls=calls, ops=ops))
    for by in ("module", "op", "line", "phase", "type"):
        assert str(damaged.table(by=by))  # type: ignore[arg-type]
    damaged.visit(str)


def test_sorted_rows_keep_short_names_but_modules_get_their_path(step: Step) -> None:
    lines = str(step.table(by="line", sort="time_us")).split("\n")
    assert lines[3].startswith("net.py:10 ")
    modules = [row.label for row in step.table(sort="time_us").rows]
    assert "block.0" in modules
    assert "" not in modules
