"""Patches of ours come and go in any order, and whatever others patch stays theirs."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import pickle
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import pytest
import torch

from stepscope import fence
from stepscope.events import Installed, caller, installed_now
from stepscope.events.patches import install, replace
from stepscope.events.points import POINTS, Point


class Theirs:
    """A class of somebody's."""

    def plain(self, a: int, b: int = 2) -> tuple[str, int, int]:
        """Says what it got."""
        return "plain", a, b

    @staticmethod
    def static(a: int) -> tuple[str, int]:
        return "static", a

    @classmethod
    def of_class(cls, a: int) -> tuple[str, int]:
        return cls.__name__, a

    @property
    def value(self) -> str:
        return "value"


class Child(Theirs):
    """Inherits everything."""


def one_more() -> type:
    """A class of its own, for what stays patched."""
    return type("Theirs", (), {"plain": lambda self, a, b=2: ("plain", a, b)})


def _word(word: str, owner: Any) -> str:
    return word


def saying(word: str, said: list[str]) -> Callable[[Any], Any]:
    """A layer that notes each call."""

    def layer(original: Any) -> Any:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            said.append(word)
            return original(*args, **kwargs)

        return call

    return layer


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_removal_in_any_order_gives_back_the_very_object(order: tuple[int, ...]) -> None:
    before, said = vars(Theirs)["plain"], []  # type: ignore[var-annotated]
    undo = [install(Theirs, "plain", saying(word, said)) for word in "abc"]
    assert Theirs().plain(1) == ("plain", 1, 2)
    assert said == ["c", "b", "a"]
    for number in order:
        undo[number]()
    assert vars(Theirs)["plain"] is before
    assert installed_now() == []


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_replaced_attributes_come_back_in_any_order(order: tuple[int, ...]) -> None:
    before = vars(Theirs)["value"]
    undo = [replace(Theirs, "value", property(partial(_word, word))) for word in "abc"]
    assert Theirs().value == "c"
    for number in order:
        undo[number]()
    assert vars(Theirs)["value"] is before
    assert installed_now() == []


@pytest.mark.parametrize("first", ["layer", "value"])
def test_layers_and_values_mix(first: str) -> None:
    before, said = vars(Theirs)["plain"], []  # type: ignore[var-annotated]
    undo = {
        "value": replace(Theirs, "plain", lambda self, a, b=0: ("ours", a, b)),
        "layer": install(Theirs, "plain", saying("layer", said)),
    }
    assert Theirs().plain(1) == ("ours", 1, 0)
    undo.pop(first)()
    assert Theirs().plain(1) == (("ours", 1, 0) if first == "layer" else ("plain", 1, 2))
    assert said == (["layer"] if first == "layer" else ["layer", "layer"])
    undo.popitem()[1]()
    assert vars(Theirs)["plain"] is before


def test_removing_twice_is_removing_once() -> None:
    before, said = vars(Theirs)["plain"], []  # type: ignore[var-annotated]
    one, other = install(Theirs, "plain", saying("a", said)), install(Theirs, "plain", saying("b", said))
    one()
    one()
    Theirs().plain(1)
    other()
    other()
    assert (vars(Theirs)["plain"] is before, said) == (True, ["b"])


# -- patches of the user's --------------------------------------------------------------------------------------------


def test_a_patch_that_was_there_before_is_called_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    theirs = saying("theirs", said)(Theirs.plain)
    monkeypatch.setattr(Theirs, "plain", theirs)
    undo = install(Theirs, "plain", saying("ours", said))
    Theirs().plain(1)
    assert said == ["ours", "theirs"]
    undo()
    assert vars(Theirs)["plain"] is theirs


def test_a_patch_made_on_top_survives_our_removal_and_is_called_once() -> None:
    kind: Any = one_more()
    said: list[str] = []
    undo = install(kind, "plain", saying("ours", said))
    theirs = saying("theirs", said)(kind.plain)
    kind.plain = theirs
    kind().plain(1)
    undo()
    kind().plain(1)
    assert vars(kind)["plain"] is theirs
    assert said == ["theirs", "ours", "theirs"]


def test_one_of_ours_goes_on_top_of_theirs_and_both_come_off() -> None:
    kind: Any = one_more()
    said: list[str] = []
    first = install(kind, "plain", saying("first", said))
    theirs = saying("theirs", said)(kind.plain)
    kind.plain = theirs
    second = install(kind, "plain", saying("second", said))
    kind().plain(1)
    assert said == ["second", "theirs", "first"]
    first()
    assert len(installed_now()) == 1
    second()
    assert vars(kind)["plain"] is theirs


def test_mock_around_ours() -> None:
    before, said = math.floor, []  # type: ignore[var-annotated]
    undo = install(math, "floor", saying("ours", said))
    with mock.patch("math.floor", return_value=7) as mocked:
        assert math.floor(2.5) == 7
    assert (math.floor(2.5), mocked.call_count, said) == (2, 1, ["ours"])
    undo()
    assert math.floor is before


def test_ours_around_mock() -> None:
    before, said = math.floor, []  # type: ignore[var-annotated]
    with mock.patch("math.floor", return_value=7) as mocked:
        undo = install(math, "floor", saying("ours", said))
        assert math.floor(2.5) == 7
        undo()
        assert math.floor is mocked
    assert (math.floor is before, mocked.call_count, said) == (True, 1, ["ours"])


def test_ours_removed_inside_a_mock_leaves_nothing_that_is_seen_or_piles_up() -> None:
    before, said = vars(Theirs)["plain"], []  # type: ignore[var-annotated]
    undo = install(Theirs, "plain", saying("ours", said))
    with mock.patch.object(Theirs, "plain", return_value=7):
        undo()
    assert Theirs().plain(1) == ("plain", 1, 2)
    assert (said, installed_now()) == ([], [])
    install(Theirs, "plain", saying("again", said))()
    assert vars(Theirs)["plain"] is before


# -- what others see --------------------------------------------------------------------------------------------------


def test_every_kind_of_attribute_stays_its_kind() -> None:
    before, said = dict(vars(Theirs)), []  # type: ignore[var-annotated]
    undo = [install(Theirs, name, saying(name, said)) for name in ("plain", "static", "of_class")]
    assert [type(vars(Theirs)[name]) for name in ("static", "of_class")] == [staticmethod, classmethod]
    assert (Theirs.static(1), Theirs().static(1)) == (("static", 1), ("static", 1))
    assert (Theirs.of_class(1), Child.of_class(1)) == (("Theirs", 1), ("Child", 1))
    assert said == ["static", "static", "of_class", "of_class"]
    for one in undo:
        one()
    assert all(vars(Theirs)[name] is before[name] for name in ("plain", "static", "of_class"))


def test_what_a_class_inherits_is_gone_from_it_again() -> None:
    said: list[str] = []
    undo = install(Child, "plain", saying("child", said))
    Child().plain(1)
    Theirs().plain(1)
    undo()
    assert (said, "plain" in vars(Child)) == (["child"], False)


def test_an_attribute_of_one_object_is_gone_from_it_again() -> None:
    class Config(dict[str, int]):
        def __setattr__(self, name: str, value: Any) -> None:
            self[name] = value  # as W&B's does

        def changed(self) -> str:
            return "theirs"

    config, said = Config(), []  # type: ignore[var-annotated]
    undo = install(config, "changed", saying("ours", said))
    assert (config.changed(), said, dict(config)) == ("theirs", ["ours"], {})
    undo()
    assert vars(config) == {}


def test_a_wrapper_looks_like_what_it_wraps() -> None:
    before = Theirs.plain
    undo = install(Theirs, "plain", saying("ours", []))
    now = Theirs.plain
    assert inspect.signature(now) == inspect.signature(before)
    assert [now.__doc__, now.__name__, now.__qualname__, now.__module__] == [
        before.__doc__, before.__name__, before.__qualname__, before.__module__,
    ]  # fmt: skip
    assert inspect.unwrap(now) is before
    assert pickle.loads(pickle.dumps(now)) is now
    undo()
    assert pickle.loads(pickle.dumps(Theirs.plain)) is before


@pytest.mark.parametrize("name", ["save", "load", "from_numpy", "set_default_dtype"])
def test_functions_of_torch_can_be_pickled_under_their_patch(name: str) -> None:
    before, home = getattr(torch, name), sys.modules[getattr(torch, name).__module__]
    undo = install(torch, name, saying("ours", []))
    assert getattr(torch, name).__module__ == before.__module__
    packed = pickle.dumps(getattr(torch, name))
    assert pickle.loads(packed) is getattr(torch, name)
    undo()
    assert pickle.loads(packed) is getattr(torch, name) is getattr(home, name) is before


def test_the_caller_is_the_first_frame_that_is_not_ours() -> None:
    found = []

    def layer(original: Any) -> Any:
        def call(*args: Any) -> Any:
            found.append(caller())
            return original(*args)

        return call

    undo = install(math, "floor", layer)
    math.floor(1.5)
    undo()
    assert found == [sys._getframe()]


# -- Installed --------------------------------------------------------------------------------------------------------


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    for point in ("theirs:Theirs.plain", "theirs:Theirs.gone", "no_such_package:Gone.fit"):
        monkeypatch.setitem(POINTS, point, Point(point, "tests", "to be patched"))


def test_functions_that_a_version_does_not_have_are_left_alone(declared: None) -> None:
    installed = Installed()
    assert not installed.wrap("theirs:Theirs.gone", saying("ours", []), Theirs)
    assert not installed.wrap("no_such_package:Gone.fit", saying("ours", []))
    assert not installed.replace("theirs:Theirs.gone", 1, Theirs)
    assert installed_now() == []


def test_only_declared_points_are_patched() -> None:
    with pytest.raises(LookupError, match="not in the table of points"):
        Installed().wrap("math:floor", saying("ours", []))


def test_a_fault_while_hearing_stays_ours(declared: None) -> None:
    installed = Installed()
    installed.before("theirs:Theirs.plain", "a test", lambda *a, **k: 1 // 0, Theirs)
    installed.after("theirs:Theirs.plain", "a test", lambda *a, **k: 1 // 0, Theirs)
    assert Theirs().plain(1) == ("plain", 1, 2)
    installed.remove()
    fence.reset()


def test_threads_that_patch_at_once_lose_nothing() -> None:
    before, barrier = vars(Theirs)["plain"], threading.Barrier(8)
    calls = itertools.count()

    def counting(original: Any) -> Any:
        return lambda *args: (next(calls), original(*args))[1]

    def work() -> None:
        barrier.wait()
        for _ in range(200):
            undo = install(Theirs, "plain", counting)
            Theirs().plain(1)
            undo()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert vars(Theirs)["plain"] is before
    assert next(calls) >= 1600
    assert installed_now() == []


def test_a_patch_is_put_on_again_as_it_was_if_the_function_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(original: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: 2 * original(*args)

    monkeypatch.setattr(math, "trunc", lambda x: 1)
    undo = install(math, "trunc", doubled)
    first = math.trunc
    undo()
    assert first(5) == 1
    undo = install(math, "trunc", doubled)
    assert math.trunc is first
    assert first(5) == 2
    undo()
    math.trunc.words = "new"  # type: ignore[attr-defined]
    undo = install(math, "trunc", doubled)
    assert math.trunc.words == "new"  # type: ignore[attr-defined]
    undo()
    monkeypatch.setattr(math, "trunc", lambda x: 10)
    undo = install(math, "trunc", doubled)
    assert math.trunc(5) == 20
    assert first(5) == 1
    undo()
    assert math.trunc(5) == 10


@pytest.fixture
def resting(monkeypatch: pytest.MonkeyPatch) -> Installed:
    """A patch of `math.trunc` that says twice what is true, and rests."""
    monkeypatch.setattr(math, "trunc", lambda x: 1)
    for point in ("math:trunc", "math:floor"):
        monkeypatch.setitem(POINTS, point, Point(point, "tests", "to be patched"))
    installed = Installed()
    installed.wrap("math:trunc", lambda original: lambda *args: 2 * original(*args))
    installed.rest()
    return installed


def test_what_rests_is_off_and_comes_back_as_it_was(resting: Installed) -> None:
    before = math.trunc
    assert installed_now() == []
    assert (math.trunc(5), resting.wake()) == (1, True)
    kept = math.trunc
    assert kept(5) == 2
    resting.rest()
    assert math.trunc is before
    assert kept(5) == 1
    assert resting.wake()
    assert math.trunc is kept
    resting.remove()
    assert (math.trunc is before, installed_now()) == (True, [])


def test_what_rests_does_not_come_back_over_another_function(
    resting: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(math, "trunc", lambda x: 10)
    assert not resting.wake()
    assert (math.trunc(5), installed_now()) == (10, [])


def test_with_a_patch_of_ours_in_its_place_all_are_taken_off_for_good(resting: Installed) -> None:
    other = Installed()
    other.wrap("math:trunc", lambda original: lambda *args: 3 * original(*args))
    assert not resting.wake()
    assert math.trunc(5) == 3
    resting.wrap("math:trunc", lambda original: lambda *args: 2 * original(*args))
    assert math.trunc(5) == 6
    resting.rest()  # it shares the patch now, so it is removed
    assert (math.trunc(5), resting.wake()) == (3, False)
    other.remove()
    assert (math.trunc(5), installed_now()) == (1, [])
