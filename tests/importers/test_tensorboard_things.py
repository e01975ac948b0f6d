"""Whatever a file claims to be a picture, a curve or a mesh: it becomes a thing, or a line that says why not."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from stepscope.eventfiles.events import Event, Metadata, Value
from stepscope.eventfiles.tensors import encode_strings, encode_tensor
from stepscope.eventfiles.wire import put_int, put_text
from stepscope.importers.foreign import Thing
from stepscope.importers.tensorboard.things import Things

PLUGINS = [
    "",
    "images",
    "audio",
    "text",
    "histograms",
    "pr_curves",
    "mesh",
    "custom_scalars",
    "hparams",
    "scalars",
    "x",
]
ARRAYS = st.builds(
    lambda shape, kind, fill: np.full(shape, fill if kind == "<f8" else min(fill, 3e38), dtype=kind),
    st.lists(st.integers(0, 6), max_size=4),
    st.sampled_from(["<f4", "<f8"]),
    st.sampled_from([0.0, 1.0, -1.0, float("nan"), float("inf"), 1e308]),
)
TENSORS = st.one_of(
    ARRAYS.map(encode_tensor),
    st.lists(st.binary(max_size=30), max_size=6).map(encode_strings),
    st.binary(max_size=60),
)


@settings(max_examples=400, deadline=None)
@given(
    kind=st.sampled_from(["tensor", "histo", "image", "audio", "old_histogram", "none"]),
    data=TENSORS,
    plugin=st.sampled_from(PLUGINS),
    content=st.binary(max_size=40),
)
def test_hostile_values_become_things_or_troubles(kind: str, data: bytes, plugin: str, content: bytes) -> None:
    things = Things()
    event = Event(time=1.0, step=1, values=[Value("tag", kind, data, 0.0, Metadata(plugin, content))])
    made = [*things.of(event), *things.rest()]
    troubles = things.troubles()
    if kind not in ("none",) and plugin not in ("hparams", "mesh"):
        assert made or troubles or kind in ("tensor", "image", "audio")
    for thing in made:
        if isinstance(thing, Thing):
            assert thing.data is not None
            assert 0 <= thing.media.index < thing.media.count


@given(graph=st.binary(max_size=80))
def test_hostile_graphs_are_kept_or_told(graph: bytes) -> None:
    things = Things()
    assert list(things.of(Event(graph=graph))) or things.troubles()


def test_parts_of_a_mesh_wait_for_each_other() -> None:
    things = Things()

    def part(kind: int, array: np.ndarray, wanted: int) -> list[object]:  # type: ignore[type-arg]
        content = put_text(2, "cube") + put_int(3, kind) + put_int(7, wanted)
        value = Value("cube", "tensor", encode_tensor(array), 0.0, Metadata("mesh", content))
        return list(things.of(Event(time=1.0, step=4, values=[value])))

    corners = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    assert part(1, corners, 6) == []
    first, second = part(2, np.zeros((2, 1, 3), np.float32), 6)
    assert isinstance(first, Thing)
    assert isinstance(second, Thing)
    assert first.data is not None
    assert b"element vertex 4" in first.data
    assert (second.media.index, second.media.count, second.media.step) == (1, 2, 4)
    assert part(2, np.zeros((1, 1, 3), np.float32), 6) == []
    (rest,) = things.rest()
    assert isinstance(rest, Thing)
    assert rest.media.meta["name"] == "faces.npy"
