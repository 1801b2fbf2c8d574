"""A package index in a folder (the simple repository of PEP 503), and a server of it on this machine alone."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copy2

from tools.release.archives import sha256


def normalized(name: str) -> str:
    """A name as an index spells it: runs of `-`, `_` and `.` are one `-`, letters are small."""
    return re.sub(r"[-_.]+", "-", name).lower()


def write(folder: Path, name: str, archives: list[Path]) -> Path:
    """The index of one project: its archives, each with its SHA-256, which pip checks."""
    place = folder / "simple" / normalized(name)
    place.mkdir(parents=True)
    for archive in archives:
        copy2(archive, place)
    links = [f'<a href="{html.escape(path.name)}#sha256={sha256(path)}">{html.escape(path.name)}</a>' for path in archives]
    _page(place, links)
    _page(place.parent, [f'<a href="{place.name}/">{place.name}</a>'])
    return folder / "simple"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder, for as long as the block lasts; on loopback, at a port that is free."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        pass


def _page(folder: Path, links: list[str]) -> None:
    lines = ["<!DOCTYPE html>", "<html><body>", *(f"{link}<br>" for link in links), "</body></html>"]
    (folder / "index.html").write_text("\n".join(lines) + "\n", encoding="utf-8")
