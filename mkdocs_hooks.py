"""The site has what the repository has, and a reference made of docstrings.

Pages link to files of the repository (sources, examples): on the site these are their names. For each front of public names
there is a page in the reference, made from the same list that imports are resolved by.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from mkdocs.structure.files import File

FRONTS = ["dither", "dither.density", "dither.local", "dither.noise"]
OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+((?:src|examples|tests|benchmarks|[A-Z])[^)#]*)\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links that leave the docs, as the name of what they lead to."""
    return OUTSIDE.sub(lambda found: f"{found[1]} (`{found[2]}`)" if found[1] != found[2] else f"`{found[2]}`", markdown)


def on_files(files: Any, config: Any) -> Any:
    """A page of the reference for each front."""
    for front in FRONTS:
        files.append(File.generated(config, f"api/{front}.md", content=_page(front)))
    return files


def _page(front: str) -> str:
    module = importlib.import_module(front)
    lines = [f"# {front}", "", (module.__doc__ or "").strip(), ""]
    for name, place in sorted(module._LAZY.items()):
        found = getattr(module, name)
        if isinstance(found, type) or callable(found):
            lines += [f"::: {place}.{name}", ""]
    return "\n".join(lines)
