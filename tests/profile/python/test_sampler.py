"""The sampling profiler: right about lines and times, and gone without a trace."""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref
from collections.abc import Callable

import pytest

from stepscope import fence
from stepscope.profile.python.sampler import _HANDOVER_S as HANDOVER_S, MOST_COST, Sampler
from stepscope.profile.python.samples import Samples
from stepscope.records.profile import Stack


def compute(seconds: float) -> int:
    until, n = time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        n += 1
    return n


def outer_long() -> None:
    compute(0.30)


def outer_short() -> None:
    compute(0.10)


def holds_the_lock() -> int:
    return sum(range(12_000_000))  # one call into C that lets nobody else run


def totals(stack: Stack) -> dict[str, float]:
    found: dict[str, float] = {}
    for node, name in enumerate(stack.name):
        short = stack.names[name].split(" ")[0]
        found[short] = found.get(short, 0.0) + stack.total[node] / 1e9
    return found


def sampled(*parts: object) -> tuple[Stack, Samples, float]:
    sampler = Sampler(0.002)
    sampler.start()
    began = time.perf_counter()
    for part in parts:
        part()  # type: ignore[operator]
    took = time.perf_counter() - began
    sampler.stop()
    return sampler.result(), sampler.samples, took


def test_times_and_parents_are_those_of_the_program() -> None:
    real: dict[str, float] = {}

    def timed(part: Callable[[], None]) -> None:
        began = time.perf_counter()
        part()
        real[part.__name__] = time.perf_counter() - began

    stack, samples, took = sampled(lambda: timed(outer_long), lambda: timed(outer_short))
    found = totals(stack)
    assert found["outer_long"] == pytest.approx(real["outer_long"], rel=0.3)
    assert found["outer_short"] == pytest.approx(real["outer_short"], rel=0.6)
    under = {
        stack.names[stack.name[stack.parent[node]]].split(" ")[0]: stack.total[node] / 1e9
        for node, name in enumerate(stack.name)
        if stack.names[name].startswith("compute ")
    }
    assert set(under) == {"outer_long", "outer_short"}
    assert 0.7 * took < samples.wall_ns / 1e9 < took + 0.1
    assert sum(stack.own) == pytest.approx(samples.wall_ns, rel=1e-6)


def test_a_call_that_lets_nobody_else_run_counts_for_its_line() -> None:
    began = time.perf_counter()
    stack, _, _ = sampled(holds_the_lock)
    took = time.perf_counter() - began
    line = holds_the_lock.__code__.co_firstlineno + 1
    (own,) = [own for name, at, own, _ in stack.by_line if stack.names[int(name)].startswith("holds") and at == line]
    assert own / 1e9 > 0.7 * took


def test_lines_name_the_line_that_is_running() -> None:
    stack, _, _ = sampled(outer_long)
    lines = {(stack.names[int(name)].split(" ")[0], int(line)): total for name, line, _, total in stack.by_line}
    assert lines["outer_long", outer_long.__code__.co_firstlineno + 1] / 1e9 == pytest.approx(0.30, rel=0.3)


def test_a_function_that_calls_itself_counts_once_a_stack() -> None:
    def down(n: int) -> None:
        if n:
            down(n - 1)
        else:
            compute(0.1)

    stack, samples, _ = sampled(lambda: down(20))
    line = down.__code__.co_firstlineno + 2
    (total,) = [total for name, at, _, total in stack.by_line if "down" in stack.names[int(name)] and at == line]
    assert total <= samples.wall_ns


def test_own_thread_and_waiting_threads_are_left_out() -> None:
    done = threading.Event()
    waiter = threading.Thread(target=done.wait, name="just waits")
    waiter.start()
    stack, _, _ = sampled(lambda: compute(0.1))
    done.set()
    waiter.join()
    assert not [name for name in stack.names if "stepscope" in name or name == "just waits"]
    assert any("only waited" in note and "just waits" in note for note in stack.notes)


def test_a_busy_second_thread_is_a_root_of_its_own() -> None:
    thread = threading.Thread(target=compute, args=(0.15,), name="loader")
    sampler = Sampler(0.002)
    sampler.start()
    thread.start()
    compute(0.15)
    thread.join()
    sampler.stop()
    stack = sampler.result()
    roots = {stack.names[stack.name[node]] for node, above in enumerate(stack.parent) if above < 0}
    assert roots == {"MainThread", "loader"}


def test_stopping_leaves_no_thread_and_no_frame_alive() -> None:
    class Big:
        pass

    kept: list[weakref.ref[Big]] = []

    def holds() -> None:
        big = Big()
        kept.append(weakref.ref(big))
        compute(0.05)

    gc.disable()  # nothing but reference counts may free it
    try:
        sampled(holds)
        assert kept[0]() is None
    finally:
        gc.enable()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("stepscope")]


def test_starting_again_adds_up_and_stopping_twice_is_nothing() -> None:
    sampler = Sampler(0.002)
    began = time.perf_counter()
    for _ in range(2):
        sampler.start()
        sampler.start()
        compute(0.05)
        sampler.stop()
        sampler.stop()
    assert 0.06 < sampler.samples.wall_ns / 1e9 <= time.perf_counter() - began


@pytest.mark.parametrize(("look_s", "interval_s"), [(0.0, 0.0005), (0.0009, (0.0009 + HANDOVER_S) / MOST_COST)])
def test_looks_that_are_dear_are_made_less_often(look_s: float, interval_s: float) -> None:
    sampler = Sampler(0.0005)
    for _ in range(20):
        sampler.samples.looks += 1
        sampler._pace(look_s)
    assert sampler._interval_s == pytest.approx(max(interval_s, HANDOVER_S / MOST_COST))


def test_a_forked_child_is_not_sampled_and_can_end() -> None:
    sampler = Sampler(0.002)
    sampler.start()
    compute(0.02)
    child = os.fork()
    if child == 0:
        on = sampler.is_on
        sampler.stop()
        os._exit(1 if on else 0)
    _, status = os.waitpid(child, 0)
    sampler.stop()
    assert os.waitstatus_to_exitcode(status) == 0


def test_our_own_threads_and_what_our_hooks_call_are_left_out() -> None:
    thread = threading.Thread(target=compute, args=(0.1,), name="stepscope-writer")
    sampler = Sampler(0.002)
    thread.start()
    sampler.start()
    fence.fenced("a hook of ours")(time.sleep)(0.05)  # in our frame
    fence.fenced("a hook of ours")(threading.Event().wait)(0.05)  # a library that our frame calls
    fence.fenced("a hook of ours")(compute)(0.05)  # what stands behind our wrapper is the program's
    sampler.stop()
    thread.join()
    names = {name.split(" ")[0] for name in sampler.result().names}
    assert "compute" in names
    assert not [name for name in sampler.result().names if "stepscope" in name or "fence" in name or "wait" in name]


def test_training_under_the_sampler_is_the_same_to_the_bit() -> None:
    import torch

    def losses() -> list[float]:
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(), torch.nn.Linear(16, 1))
        optimizer = torch.optim.Adam(model.parameters())
        found = []
        for _ in range(40):
            optimizer.zero_grad()
            loss = model(torch.rand(4, 8)).pow(2).sum()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    plain = losses()
    sampler = Sampler(0.0005)
    sampler.start()
    try:
        watched = losses()
    finally:
        sampler.stop()
    assert sampler.samples.looks > 0
    assert watched == plain


def test_a_thread_of_a_library_that_only_stands_in_a_read_is_idle() -> None:
    import _thread

    reading, writing = os.pipe()
    _thread.start_new_thread(os.read, (reading, 1))
    _thread.start_new_thread(stands_in_a_read, (reading,))
    time.sleep(0.05)
    try:
        stack, samples, _ = sampled(outer_short)
    finally:
        os.write(writing, b"xx")
        time.sleep(0.05)
        os.close(writing)
        os.close(reading)
    assert sum(stack.own) == pytest.approx(samples.wall_ns, rel=1e-6)
    assert "stands_in_a_read" not in totals(stack)


def stands_in_a_read(reading: int) -> None:
    os.read(reading, 1)
