from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch


def test_tables_with_pictures_in_cells(wandb: ModuleType, last: Callable[[], Any]) -> None:
    table = wandb.Table(columns=["image", "label"])
    for at in range(3):
        table.add_data(wandb.Image(np.full((2, 2), at, np.uint8), caption=str(at)), at)
    with wandb.init(project="p") as run:
        run.log({"predictions": table})
        table.add_data(None, 9)  # what is logged stays what it was
    [record] = last().media("predictions")
    assert json.loads(last().media_bytes(record)) == {
        "columns": ["image", "label"],
        "rows": [["[image 1]", 0], ["[image 2]", 1], ["[image 3]", 2]],
    }
    assert [each.meta["caption"] for each in last().media("predictions/image")] == ["0", "1", "2"]


def test_a_waiting_row_has_the_table_as_it_was(wandb: ModuleType, last: Callable[[], Any]) -> None:
    table = wandb.Table(columns=["a"], data=[[1]])
    with wandb.init(project="p") as run:
        run.log({"t": table}, commit=False)
        table.add_data(2)
    [record] = last().media("t")
    assert record.meta["rows"] == 1


def test_tables_from_frames_and_arrays(wandb: ModuleType) -> None:
    frame = pytest.importorskip("pandas").DataFrame({"a": [1, 2], "b": ["x", "y"]})
    for table in (wandb.Table(dataframe=frame), wandb.Table(data=frame)):
        assert (table.columns, table.data) == (["a", "b"], [[1, "x"], [2, "y"]])
        assert table.get_dataframe().equals(frame)
    assert wandb.Table(data=np.eye(2)).data == [[1.0, 0.0], [0.0, 1.0]]
    assert [row for _at, row in wandb.Table(columns=["a"], rows=[[1], [2]]).iterrows()] == [[1], [2]]
    assert wandb.Table(columns=["a"], data=[[1], [2]]).get_column("a", convert_to="numpy").sum() == 3
    with pytest.raises(wandb.UsageError, match="has no column 'z'; it has a"):
        wandb.Table(columns=["a"]).get_column("z")
    with pytest.raises(wandb.UsageError, match="the table has 1 rows"):
        wandb.Table(columns=["a"], data=[[1]]).add_column("b", [1, 2])


def test_sound_video_pages_and_objects(wandb: ModuleType, last: Callable[[], Any], tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<i>from a file</i>")
    (tmp_path / "cube.obj").write_text("v 0 0 0")
    with wandb.init(project="p") as run:
        run.log(
            {
                "sound": wandb.Audio(np.zeros(100), sample_rate=8000, caption="hush"),
                "sounds": [wandb.Audio([0.0, 0.5], sample_rate=10)],
                "video": wandb.Video(np.zeros((3, 3, 4, 5), np.uint8), fps=2),
                "batch": wandb.Video(torch.zeros(2, 3, 3, 4, 5)),
                "html": wandb.Html("<b>text</b>"),
                "page": wandb.Html("page.html"),
                "read": wandb.Html(io.StringIO("<u>open</u>")),
                "points": wandb.Object3D(np.zeros((4, 3))),
                "scene": wandb.Object3D({"type": "lidar/beta", "points": np.zeros((2, 3)), "boxes": []}),
                "cube": wandb.Object3D("cube.obj"),
                "molecule": wandb.Molecule(io.StringIO("ATOM"), file_type="pdb"),
            }
        )
    kinds = {each.key: (each.kind, each.mime) for each in last().media()}
    assert kinds == {
        "sound": ("audio", "audio/wav"),
        "sounds": ("audio", "audio/wav"),
        "video": ("video", "image/apng"),
        "batch": ("video", "image/apng"),
        "html": ("html", "text/html"),
        "page": ("html", "text/html"),
        "read": ("html", "text/html"),
        "points": ("file", "application/json"),
        "scene": ("file", "application/json"),
        "cube": ("file", kinds["cube"][1]),
        "molecule": ("file", kinds["molecule"][1]),
    }
    [batch] = last().media("batch")
    assert (batch.meta["width"], batch.meta["height"], batch.meta["frames"], batch.meta["fps"]) == (10, 4, 3, 4)
    [points] = last().media("points")
    assert json.loads(last().media_bytes(points))["points"] == [[0.0, 0.0, 0.0]] * 4
    [read] = last().media("read")
    assert last().media_bytes(read) == b"<u>open</u>"


def test_a_histogram_tells_its_bins(wandb: ModuleType) -> None:
    counts, edges = np.histogram([1.0, 2.0, 2.5, 9.0], bins=4)
    histogram = wandb.Histogram(np_histogram=(counts, edges))
    assert (histogram.histogram, histogram.bins) == (counts.tolist(), edges.tolist())
    for wrong in ({}, {"np_histogram": ([1, 2], [1, 2])}, {"sequence": [1.0], "num_bins": 9999}):
        with pytest.raises(ValueError, match=r"Histogram|np_histogram"):
            wandb.Histogram(**wrong)


def test_a_long_table_is_cut_and_says_so(wandb: ModuleType, last: Callable[[], Any]) -> None:
    with wandb.init(project="p") as run:
        run.log({"long": wandb.Table(columns=["a"], data=[[at] for at in range(10_050)])})
        wide = wandb.Table(columns=["i"], data=[[wandb.Html("x")] for _ in range(1_020)])
        run.log({"wide": wide})
    [record] = last().media("long")
    assert (record.meta["rows"], record.meta["truncated"]) == (10_000, 50)
    assert len(last().media("wide/i")) == 1_000
