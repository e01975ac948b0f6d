"""Media inside a training loop: making one never raises, and what was wrong is said when it is logged."""

from __future__ import annotations

import gc
import inspect
import weakref

import numpy as np
import pytest

from stepscope.errors import UsageError
from stepscope.track.media import Embedding, Histogram, Image, Markdown, PRCurve, Several, Table


class Explosive:
    """What a user's own array type may do."""

    shape = (2, 2)

    def __array__(self, *_args: object, **_kwargs: object) -> np.ndarray:
        raise RuntimeError("boom")


def test_data_that_went_bad_does_not_end_a_training() -> None:
    scores = np.array([0.1, np.nan])
    for make in (
        lambda: PRCurve([0, 1], scores),
        lambda: Image(np.zeros((0, 3))),
        lambda: Markdown(3),  # type: ignore[arg-type]
        lambda: Table([[1], [1, 2]]),
        lambda: Embedding(np.zeros((0, 3))),
    ):
        made = make()
        for _ in range(2):
            with pytest.raises(UsageError):
                made.encode("k", 0, 0.0)


def test_a_fault_of_another_kind_is_told_once_and_gives_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        assert Image(Explosive()).encode("k", 0, 0.0) == []
        assert Histogram(Explosive()).encode("k", 0, 0.0) == []
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert "making a stepscope.Image failed and was skipped; training continues (RuntimeError: boom)" in told[0]


def test_one_bad_item_of_a_list_says_so() -> None:
    with pytest.raises(UsageError, match="empty"):
        Several([Image([[0]]), Image(np.zeros((0, 0)))]).encode("k", 0, 0.0)


def test_a_refused_value_keeps_nothing_of_the_caller_alive() -> None:
    def loop() -> tuple[Image, weakref.ref[np.ndarray]]:
        large = np.zeros((5, 0, 5))
        return Image(large), weakref.ref(large)

    image, reference = loop()
    gc.collect()
    assert reference() is None
    assert image is not None


def test_help_still_shows_the_arguments() -> None:
    assert "caption" in inspect.signature(Image).parameters
