"""Runs as resources, for clients that attach what they show instead of calling tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio.to_thread

from stepscope.agents.tool import Answer
from stepscope.agents.tool_context import Desk
from stepscope.agents.tools.explain_rule import explain_rule
from stepscope.agents.tools.get_findings import get_findings
from stepscope.agents.tools.get_run import get_run
from stepscope.agents.tools.list_runs import list_runs
from stepscope.agents.tools.why_did_it_fail import why_did_it_fail
from stepscope.errors import StepscopeError

MARKDOWN = "text/markdown"


def add_resources(server: Any, desk: Desk) -> None:
    """The list of runs, and one address for each run, its findings, its failure, and for each rule."""

    async def runs() -> str:
        return await _text(lambda: list_runs(desk))

    async def rule(rule: str) -> str:
        return await _text(lambda: explain_rule(desk, rule))

    def add(address: str, name: str, about: str, read: Callable[..., Awaitable[str]]) -> None:
        server.resource(address, name=name, title=about, description=about, mime_type=MARKDOWN)(read)

    add("stepscope://runs", "runs", "The newest runs", runs)
    add("stepscope://run/{run}", "run", "A run's status, config and metrics", _of_run(desk, get_run))
    add("stepscope://run/{run}/findings", "findings", "What is wrong with a run", _of_run(desk, get_findings))
    add("stepscope://run/{run}/failure", "failure", "Why a run failed", _of_run(desk, why_did_it_fail))
    add("stepscope://rule/{rule}", "rule", "What a rule finds and how to fix it", rule)


def _of_run(desk: Desk, make: Callable[[Desk, str], Answer]) -> Callable[[str], Awaitable[str]]:
    async def read(run: str) -> str:
        return await _text(lambda: make(desk, run))

    return read


async def _text(make: Callable[[], Answer]) -> str:
    """The answer's text. A wrong name is also answered as text: the SDKs hide exception messages from the client."""
    try:
        answer = await anyio.to_thread.run_sync(make)
    except StepscopeError as fault:
        return f"error: {fault}"
    return answer.finished()[0]
