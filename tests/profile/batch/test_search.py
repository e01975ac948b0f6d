"""Which batch sizes are tried, and what is reported about them."""

from __future__ import annotations

import pytest

from stepscope.profile.batch.memory import is_out_of_memory
from stepscope.profile.batch.report import BatchReport
from stepscope.profile.batch.search import Measurement, Search

MIB = 1 << 20


def searched(now: int, fits: int, *, most: int | None = None, limit: int = 0, fixed: int = 100) -> Search:
    """A search where a sample takes 1 MiB beside a fixed part, and `fits` is the largest that does not fail."""
    search = Search(now, most=most, limit_bytes=limit * MIB)
    for _ in range(50):
        search = Search.of(search.state())  # as between processes
        size = search.next_size()
        if size is None:
            return search
        if size > fits:
            search.out_of_memory.append(size)
        else:
            search.done.append(Measurement(size, 0.01 + size * 1e-4, 0.0, (fixed + size) * MIB, 5))
    raise AssertionError("the search does not end")


@pytest.mark.parametrize("fits", [33, 64, 100, 129, 777, 5000])
def test_the_largest_that_fits_is_found_to_a_tenth(fits: int) -> None:
    search = searched(32, fits)
    assert search.bound == "memory"
    assert fits / 1.26 <= search.largest <= fits
    assert len(search.done) + len(search.out_of_memory) < 20


def test_peaks_say_before_a_trial_what_cannot_fit() -> None:
    search = searched(32, 10_000, limit=1000)
    assert search.out_of_memory == []
    assert 900 / 1.1 <= search.largest <= 900
    assert search.bound == "memory"


def test_no_batch_is_larger_than_the_data() -> None:
    search = searched(32, 10_000, most=100)
    assert (search.largest, search.bound) == (100, "data")


def test_a_script_whose_own_size_does_not_fit_ends_the_search() -> None:
    search = searched(32, 3)
    assert (search.largest, search.bound) == (0, "memory")


@pytest.mark.parametrize("now", [1, 2, 3, 7])
def test_small_batches_are_searched_too(now: int) -> None:
    search = searched(now, 50)
    assert now in [one.size for one in search.done]
    assert 25 < search.largest <= 50


def test_the_report_names_the_size_beyond_which_nothing_is_gained() -> None:
    search = Search(32, limit_bytes=1 << 30, bound="memory")
    search.done = [Measurement(32, 0.010, 0.0, MIB, 5), Measurement(64, 0.012, 0.0, 2 * MIB, 5),
                   Measurement(128, 0.0235, 0.0, 4 * MIB, 5)]  # fmt: skip
    loader = {"dataset": "Photos", "place": ["/a/train.py", 7], "on_device": False, "optimizer": "AdamW",
              "rates": [0.001]}  # fmt: skip
    report = BatchReport(search, loader)
    assert report.best is not None
    assert report.best.size == 64
    assert report.rate(128) == ("by the square root", [pytest.approx(0.002)])
    text = "\n".join("".join(part for part, _ in line) for line in report.lines())
    assert "DataLoader at train.py:7 over Photos, batches of 32" in text
    assert "fastest: 64; 1.67x the current samples per second" in text
    assert "largest: 128; the next size does not fit into memory" in text


def test_errors_of_memory_are_told_from_others() -> None:
    class OutOfMemoryError(RuntimeError):
        """As torch calls it."""

    assert is_out_of_memory(OutOfMemoryError("CUDA"))
    assert is_out_of_memory(MemoryError())
    behind = ValueError("while training")
    behind.__cause__ = RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
    assert is_out_of_memory(behind)
    assert not is_out_of_memory(ValueError("shape mismatch"))
    assert not is_out_of_memory(None)
