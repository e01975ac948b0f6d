"""Every link, picture and anchor of a built site leads somewhere within it. Nothing outside is asked."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.update(value for value in (given.get("id"), given.get("name")) if value)
        for name in ("href", "src"):
            value = given.get(name)
            if value:
                self.targets.append(value)


def broken_links(site: Path) -> list[str]:
    """`page: target` for each that leads nowhere."""
    site = site.resolve()
    pages: dict[Path, _Page] = {}
    for path in site.rglob("*.html"):
        page = pages[path] = _Page()
        page.feed(path.read_text())
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links start at the root of wherever the site is put
            continue
        for target in dict.fromkeys(page.targets):
            if not _leads_somewhere(target, path, pages, site):
                broken.append(f"{path.relative_to(site)}: {target}")
    return broken


def _leads_somewhere(target: str, page: Path, pages: dict[Path, _Page], site: Path) -> bool:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return True
    path = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
    if path.is_dir():
        path = path / "index.html"
    if not path.exists() or not path.is_relative_to(site):
        return False
    if parts.fragment and path in pages and not parts.fragment.startswith("__"):
        return unquote(parts.fragment) in pages[path].anchors
    return True
