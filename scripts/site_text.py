"""`llms.txt`: the documentation for programs: an index with a line for each page, and the main pages whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
_WHOLE = (
    "index.md",
    "run.md",
    "findings.md",
    "logging.md",
    "profile.md",
    "checking.md",
    "api.md",
    "query.md",
    "reading.md",
)
HEAD = """# Stepscope

> See inside every training step. One tool for PyTorch training scripts as they are: finds what is wrong and on which
> line, says where time and memory go, shows what the model is, tracks runs and compares them in the browser. Local, no
> account.

The quickest ways in: `stepscope run train.py` (track and diagnose), `stepscope check train.py` (a few batches, every
check), `stepscope profile train.py` (where the time goes and what to change), `stepscope ui` (the browser),
`stepscope mcp` (for agents), `--json` on every command.
"""


def llms_index(nav: list[Any]) -> str:
    lines = [HEAD]
    for section in nav:
        ((title, inside),) = section.items()
        lines.append(f"## {title}\n")
        for name in _pages(inside):
            heading, about = _about(name)
            if heading:
                at = re.sub(r"(README)?\.md$", lambda found: "index.html" if found.group(1) else ".html", name)
                lines.append(f"- [{heading}]({at}): {about}" if about else f"- [{heading}]({at})")
        lines.append("")
    return "\n".join(lines)


def llms_full(nav: list[Any]) -> str:
    """The pages an agent needs most, whole; the rest is in the index."""
    parts = [HEAD]
    parts += [f"\n\n<!-- {name} -->\n\n{(DOCS / name).read_text()}" for name in _WHOLE if (DOCS / name).exists()]
    parts += [
        f"\n\n<!-- {p.relative_to(DOCS)} -->\n\n{p.read_text()}" for p in sorted((DOCS / "commands").glob("*.md"))
    ]
    return "".join(parts)


def _pages(inside: Any) -> Iterator[str]:
    if isinstance(inside, str):
        yield inside
    elif isinstance(inside, dict):
        for each in inside.values():
            yield from _pages(each)
    else:
        for each in inside:
            yield from _pages(each)


def _about(name: str) -> tuple[str, str]:
    path = DOCS / name
    if not path.exists():
        return "", ""
    text = path.read_text()
    heading = next((line.lstrip("# ").strip() for line in text.splitlines() if line.startswith("# ")), path.stem)
    for paragraph in re.split(r"\n\s*\n", text.split("\n", 1)[-1]):
        words = " ".join(paragraph.split())
        if words and words[0] not in "#|`<!:-" and not paragraph.startswith("    "):
            words = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", words).replace("*", "")
            return heading.replace("`", ""), re.split(r"(?<=[.?!]) ", words)[0][:200]
    return heading.replace("`", ""), ""
