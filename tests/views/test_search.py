"""Every word of a search is found where it is, and the best hit comes first."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.views.conftest import write_run

from stepscope.records import Console, End, Finding, FindingEvent
from stepscope.runs.write.writer import RunWriter
from stepscope.views.context import Context
from stepscope.views.search import Hit, SearchRequest, score_of, search


def hits(ctx: Context, text: str, **more: object) -> dict[str, list[Hit]]:
    result = search(ctx, SearchRequest(text=text, deep=True, **more))  # type: ignore[arg-type]
    assert result.unread == 0
    return {group.kind: group.hits for group in result.groups}


@pytest.fixture
def otter(store: Path) -> str:
    finding = Finding(rule="opt.no-zero-grad", severity="error", message="gradients pile up", file="train.py", line=42)
    return write_run(
        store,
        "brave-otter",
        {"train/loss": [1.0], "val/acc": [0.5]},
        project="vae",
        tags=["paper"],
        notes="# Next\n\n- **Warm up** `longer`\n",
        config={"optimizer": {"name": "lion"}},
        command=["python", "train.py", "--amp"],
        events=[FindingEvent(time=1.0, finding=finding)],
        end=End(time=time.time(), status="failed", error="OverflowError: too large"),
    )


@pytest.mark.parametrize(
    ("text", "kind", "title"),
    [
        ("otter", "run", "brave-otter"),
        ("PAPER", "run", "brave-otter"),
        ("warm longer", "run", "brave-otter"),
        ("lion", "run", "brave-otter"),
        ("--amp", "run", "brave-otter"),
        ("overflow", "run", "brave-otter"),
        ("val acc", "metric", "val/acc"),
        ("pile", "finding", "gradients pile up"),
        ("no-zero-grad", "finding", "gradients pile up"),
        ("vae", "project", "vae"),
    ],
)
def test_it_is_found_by(ctx: Context, otter: str, text: str, kind: str, title: str) -> None:
    [hit] = hits(ctx, text)[kind]
    assert hit.title == title
    assert kind == "project" or hit.run == otter


def test_the_line_of_the_notes_is_shown_without_the_signs_of_markdown(ctx: Context, otter: str) -> None:
    [hit] = hits(ctx, "longer")["run"]
    assert hit.detail.endswith(" · - Warm up longer")


def test_what_was_printed_and_kept_is_found_in_the_newest_runs(ctx: Context, store: Path) -> None:
    import stepscope

    run = stepscope.init(dir=store, name="printer", system=False, git=False, console=False)
    run.log({"loss": 1.0})
    (store.parent / "best.pt").write_bytes(b"weights")
    run.log_artifact(store.parent / "best.pt", name="best.pt", type="model")
    run.finish()
    assert run.path is not None
    writer = RunWriter(run.path, run_id=run.path.name, role="edit", heartbeat_s=0, fsync_s=0)
    for text in ("epoch 1\n", "  0%|  |\r", "CUDA out of ", "memory. Tried to allocate 2 GiB\nbye\n"):
        writer.console(Console(time=1.0, stream="stdout", text=text, rewrite=text.endswith("\r")))
    writer.close()
    ctx.catalogue.refresh()
    [line] = hits(ctx, "memory cuda")["console"]
    assert (line.title, line.run, line.key) == ("CUDA out of memory. Tried to allocate 2 GiB", run.path.name, "memory")
    [kept] = hits(ctx, "best")["artifact"]
    assert (kept.title, kept.key) == ("best.pt:v0", "best.pt:0")
    assert "console" not in hits(ctx, "0%")


def test_the_beginning_of_a_name_comes_before_its_middle_and_a_tag(ctx: Context, store: Path) -> None:
    write_run(store, "calm-lynx-otter")
    write_run(store, "otter-2")
    write_run(store, "heron", tags=["otter"])
    assert [hit.title for hit in hits(ctx, "otter")["run"]] == ["otter-2", "calm-lynx-otter", "heron"]
    assert hits(ctx, "otter heron")["run"][0].detail == "demo · finished · tag otter"


def test_a_change_is_seen_and_a_deleted_run_is_not(ctx: Context, store: Path) -> None:
    assert hits(ctx, "lynx") == {}
    run = write_run(store, "lynx")
    ctx.catalogue.refresh()
    assert len(hits(ctx, "lynx")["run"]) == 1
    (store / run).rename(store.parent / "away")
    ctx.catalogue.refresh()
    assert hits(ctx, "lynx") == {}


def test_reports_are_searched_by_their_text(ctx: Context, store: Path) -> None:
    folder = store / "reports" / "ablation-abc123"
    folder.mkdir(parents=True)
    (folder / "000001.md").write_text("# What the latent size does\n\nThe *larger* one learns faster.\n")
    [hit] = hits(ctx, "larger faster")["report"]
    assert (hit.title, hit.key) == ("What the latent size does", "ablation-abc123")


def test_one_project_alone_and_no_more_than_asked(ctx: Context, store: Path) -> None:
    for number in range(4):
        write_run(store, f"run-{number}", project="a" if number else "b")
    assert [hit.title for hit in hits(ctx, "run", project="b")["run"]] == ["run-0"]
    result = search(ctx, SearchRequest(text="run-", limit=2))
    assert [(group.kind, len(group.hits), group.count) for group in result.groups] == [("run", 2, 4)]


def test_odd_texts_find_nothing_and_break_nothing(ctx: Context, otter: str) -> None:
    for text in ("", "   ", "\x00\ud7ff", "(((", "a" * 10_000, "' OR 1=1"):
        assert hits(ctx, text) == {}


def test_ten_thousand_runs_are_searched_between_two_letters(ctx: Context, store: Path) -> None:
    from stepscope.runs.catalogue.entry import Head, RunEntry

    write_run(store, "seed", {"loss": [1.0]}, config={"lr": 0.1})
    entry = ctx.catalogue.entries()[0]
    many = []
    for number in range(10_000):
        fields = {name: getattr(entry.head, name) for name in Head.__struct_fields__}
        head = Head(**{**fields, "id": f"{number:026d}", "name": f"run-{number}"})
        many.append(RunEntry("x", head, entry.metrics))
    ctx.catalogue._entries = {one.id: one for one in many}
    ctx.catalogue.version += 1
    search(ctx, SearchRequest(text="warm"))
    began = time.process_time()  # of this process alone: the machine may be busy
    [group] = search(ctx, SearchRequest(text="run-999")).groups
    assert time.process_time() - began < 0.5
    assert (group.count, group.hits[0].title) == (11, "run-999")


def test_scores_add_up_over_words() -> None:
    assert score_of("train/loss", ["train", "loss"]) == 7.0
