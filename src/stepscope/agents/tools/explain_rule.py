"""What a rule means."""

from __future__ import annotations

from typing import Annotated

import msgspec
from pydantic import Field

from stepscope.agents.tool import Answer, tool
from stepscope.agents.tool_context import Desk
from stepscope.views.findings import RuleRequest, rule as rule_page

Rule = Annotated[str, Field(description="The id in a finding's brackets: `opt.no-zero-grad`, `perf.optimizer-loop`.")]


@tool("Explain a rule")
def explain_rule(desk: Desk, rule: Rule) -> Answer:
    """What a rule (or a piece of performance advice) finds, why it matters, how to fix it, bad and good code."""
    found = rule_page(desk.ctx, RuleRequest(rule=rule.strip()))
    parts = [f"{found.severity}[{found.id}] {found.summary}", found.about]
    titles = (("Why it matters", found.why), ("What to do", found.fix), ("How it is found", found.how))
    parts += [f"{title}: {words}" for title, words in titles if words]
    parts += [f"{title}:\n```python\n{code}\n```" for title, code in (("Bad", found.bad), ("Good", found.good)) if code]
    parts.append(f"To silence it on one line: `# stepscope: ignore[{found.id}]`")
    return Answer("\n\n".join(part for part in parts if part), msgspec.to_builtins(found))
