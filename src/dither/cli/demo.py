"""`dither demo`: three private questions about a made-up clinic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dither.demo import show


def demo(
    epsilon: Annotated[str, typer.Option(help="The price of each question, exactly: 0.5, 1/3, or ln(2).")] = "0.5",
    save: Annotated[Path | None, typer.Option(help="Keep the data, the policy and a script in this folder.")] = None,
) -> None:
    """Ask three private questions about a made-up clinic."""
    show(epsilon, save)
