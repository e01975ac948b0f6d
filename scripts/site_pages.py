"""MkDocs hooks: what the site has beyond the pages in docs/.

The navigation of whole folders, the pages that lie above docs/ (CHANGELOG, bench/RESULTS, the examples), the options of
every command as the command itself knows them, a page with every public class and function, and `llms.txt`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import click
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
ABOVE = ("CHANGELOG.md", "CONTRIBUTING.md", "bench/RESULTS.md")
SOURCES = "https://github.com/stepscope/stepscope/blob/main/"
sys.path.insert(0, str(ROOT / "src"))


def on_config(config: Any) -> Any:
    """Folders named in the navigation become their pages."""
    config["nav"] = [_filled(entry) for entry in config["nav"]]
    return config


def _filled(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    ((title, inside),) = entry.items()
    if isinstance(inside, list):
        return {title: [_filled(each) for each in inside]}
    if (DOCS / inside).is_dir():
        return {title: _pages_of(inside)}
    return entry


def _pages_of(folder: str) -> list[Any]:
    first = [name for name in ("index.md", "README.md") if (DOCS / folder / name).exists()]
    rest = sorted(p.name for p in (DOCS / folder).glob("*.md") if p.name not in ("index.md", "README.md"))
    named = folder == "rules"  # by the rule's own name, not by a sentence
    return [
        *(f"{folder}/{name}" for name in first),
        *({n[:-3]: f"{folder}/{n}"} if named else f"{folder}/{n}" for n in rest),
    ]


def on_files(files: Files, config: Any) -> Files:
    """Pages that are not in docs/, and those that are made."""
    for name in ABOVE:
        files.append(File.generated(config, name, content=(ROOT / name).read_text()))
    files.append(File.generated(config, "reference.md", content=_reference()))
    from site_text import llms_full, llms_index

    files.append(File.generated(config, "llms.txt", content=llms_index(config["nav"])))
    files.append(File.generated(config, "llms-full.txt", content=llms_full(config["nav"])))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links that leave docs/, and the options of a command at the end of its page."""
    source = page.file.src_uri
    text = re.sub(r"\[[\w/.-]+\.md\]\(([\w/.-]+\.md)", lambda match: _titled(match, source), markdown)
    text = re.sub(r"(\]\()([^)#\s]+)([^)]*\))", lambda match: _moved(match, source), text)
    if source.startswith("commands/") and not source.endswith("README.md"):
        text += _options(Path(source).stem)
    return text


def _titled(match: re.Match[str], source: str) -> str:
    """In the repository a link reads well with its file's name, on the site with the page's title."""
    path = (DOCS / source).parent.joinpath(match.group(1))
    if not path.exists():
        return match.group(0)
    title = next((line[2:].strip() for line in path.read_text().splitlines() if line.startswith("# ")), path.stem)
    return f"[{title}]({match.group(1)}"


def _moved(match: re.Match[str], source: str) -> str:
    opening, target, rest = match.groups()
    if re.match(r"[a-z]+:", target) or target.startswith("/"):
        return match.group(0)
    if source in ABOVE:
        base = (ROOT / source).parent
        path = (base / target).resolve()
        if path.is_relative_to(DOCS):
            up = "../" * source.count("/")
            return f"{opening}{up}{path.relative_to(DOCS)}{rest}"
    else:
        path = (DOCS / source).parent.joinpath(target).resolve()
    if path.is_relative_to(DOCS) or not path.is_relative_to(ROOT) or not path.exists():
        return match.group(0)
    inside = str(path.relative_to(ROOT))
    if inside in ABOVE:
        return f"{opening}{'../' * source.count('/')}{inside}{rest}"
    return f"{opening}{SOURCES}{inside}{rest}"


def _options(stem: str) -> str:
    from stepscope.cli.main import commands

    name = stem.replace("_", "-")
    command = commands.get_command(click.Context(commands), name)
    if command is None:
        return ""
    with click.Context(command, info_name=f"stepscope {name}") as context:
        return f"\n\n## All options\n\n```text\n{command.get_help(context)}\n```\n"


def _reference() -> str:
    import stepscope

    lines = [
        "# Every class and function",
        "",
        "Made from the source. [The Python API](api.md) is the shorter list, by purpose.",
        "",
    ]
    homes = {**stepscope._HOMES, "runs": "stepscope.runs.catalogue.run_list", "record": "stepscope.inspect.recording"}
    for name, home in sorted(homes.items(), key=lambda item: item[0].lower()):
        if name == "data":
            home = "stepscope.launch.data"
        options = [f"      heading: stepscope.{name}", f"      toc_label: {name}", "      heading_level: 2"]
        lines += [f"::: {home}.{name}", "    options:", *options, ""]
    return "\n".join(lines)
