"""Lets the documentation site hold the pages that lie outside docs/, such as README.md. `make docs` builds it.

Links are written for readers of the repository. On the site, a link to a page leads to that page, a link to another
file becomes its text, and a link to nothing fails the build.
"""  # noqa: INP001  a hook of mkdocs, not a package

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "reporting.md",
    "benchmarks/RESULTS.md": "measurements.md",
    "deploy/fleet/README.md": "curate-fleet.md",
}
SOURCES = {page: source for source, page in OUTSIDE.items()}
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
log = logging.getLogger("mkdocs.hooks.site")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that lie outside docs/."""
    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001  its form
    """Rewrite the links of one page for the site."""
    uri = page.file.src_uri
    source = SOURCES.get(uri, f"docs/{uri}")

    def rewritten(found: re.Match[str]) -> str:
        image, text, path, anchor = found[1], found[2], found[3], found[4] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if on_site := OUTSIDE.get(target) or (target.removeprefix("docs/") if target.startswith("docs/") else ""):
            return f"{image}[{text}]({posixpath.relpath(on_site, posixpath.dirname(uri) or '.')}{anchor})"
        if not (ROOT / target).exists():
            log.warning("%s links to %s, which does not exist", source, path)
        return text

    return LINK.sub(rewritten, markdown)
