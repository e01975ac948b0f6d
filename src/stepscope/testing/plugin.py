"""The pytest plugin's interface: a marker, a fixture, three options. torch is imported only when a test needs it.

Watching starts before a test's fixtures are created and ends with its body, as if the test were a script.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

from stepscope.testing.report_properties import MEASURED, NOTED

__all__: list[str] = []

MARK = "stepscope"
FIXTURES = ("training_step", "stepscope_step")
_watched = pytest.StashKey[Any]()
"""Of an item: its `Watched`."""

HELP = (
    "stepscope(allow=(), steps=5, max_ms=None, max_memory=None, baseline=False, tolerance=0.25): fail the test when "
    "Stepscope finds a fault in what it trains, or a step exceeds its budget of time or memory."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("stepscope", "training steps (stepscope)")
    group.addoption(
        "--stepscope-update-baseline",
        action="store_true",
        help="store the current measurements as the baseline of this machine, for tests with baseline=True",
    )
    group.addoption(
        "--stepscope-baseline",
        metavar="FILE",
        help="the file with the baselines; .stepscope-baseline.json beside the test by default",
    )
    group.addoption("--no-stepscope", action="store_true", help="run marked tests without watching them")
    parser.addini("stepscope_baseline", "the file with the baselines, from the folder of the ini-file")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", HELP)


def is_ours(item: pytest.Item) -> bool:
    """Whether a test uses Stepscope, by the marker or the fixture."""
    if item.get_closest_marker(MARK) is None and not set(FIXTURES) & set(getattr(item, "fixturenames", ())):
        return False
    return not item.config.getoption("no_stepscope")


@pytest.hookimpl(wrapper=True, trylast=True)  # pytest is set up, and no fixture is created yet
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    if is_ours(item):
        item.stash[_watched] = _watch_of(item)
        item.stash[_watched].begin()
    return (yield)


def _watch_of(item: pytest.Item) -> Any:
    """An invalid marker, or missing torch, is an error in the test's set-up, in one line."""
    from stepscope.errors import StepscopeError

    try:
        from stepscope.testing.marker import wishes_of
        from stepscope.testing.watched import Watched

        return Watched(item, wishes_of(item))
    except StepscopeError as fault:
        why = str(fault)
    except ModuleNotFoundError as fault:
        if fault.name != "torch":
            raise
        why = "@pytest.mark.stepscope needs torch, which is not installed; run: pip install 'stepscope[torch]'"
    pytest.fail(why, pytrace=False)


@pytest.hookimpl(wrapper=True, trylast=True)  # around the body alone: functions, unittest's methods, coroutines
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    watched = item.stash.get(_watched, None)
    if watched is None:
        return (yield)
    try:
        result = yield
    except BaseException as error:
        watched.broke(error)
        raise error  # with its current traceback: without Stepscope's frames
    watched.judge()
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    watched = item.stash.get(_watched, None)
    if watched is not None:
        watched.end()
        del item.stash[_watched]
    return (yield)


# -- baselines: measured where the test runs, written where the session ends -------------------------------------------


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when != "call" or not any(name in (MEASURED, NOTED) for name, _ in report.user_properties):
        return
    from stepscope.testing.baseline import shelf

    for name, value in report.user_properties:
        if name == MEASURED and report.passed:
            shelf.take(str(value))
        elif name == NOTED:
            shelf.note(report.nodeid, str(value))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput") or not session.config.getoption("stepscope_update_baseline"):
        return
    from stepscope.testing.baseline import shelf

    shelf.write()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    import sys

    known = sys.modules.get("stepscope.testing.baseline")
    lines = [] if known is None else known.shelf.summary()
    if lines:
        terminalreporter.section("stepscope", sep="-", blue=True)
        for line in lines:
            terminalreporter.write_line(line)


# -- the fixture -------------------------------------------------------------------------------------------------------


@pytest.fixture
def training_step(request: pytest.FixtureRequest) -> Callable[..., list[Any]]:
    """Calls a function that makes one training step several times, watched; then, for a budget, unwatched and timed.

    losses = training_step(step)     # the return values of the watched calls
    """
    watched = request.node.stash.get(_watched, None)
    if watched is None:  # --no-stepscope

        def plainly(step: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
            from stepscope.testing.marker import wishes_of

            return [step(*args, **kwargs) for _ in range(wishes_of(request.node).steps)]

        return plainly
    repeat: Callable[..., list[Any]] = watched.repeat
    return repeat


@pytest.fixture
def stepscope_step(training_step: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """`training_step` under another name, for projects that have a fixture of that name."""
    return training_step
