"""What a terminal shows while an engine works: the part that is done where the engine tells it, and the seconds so far.

The seconds tell nobody anything new: who asked has a clock, and sees when the answer comes. They are counted here, from no
row, and by no word of the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def waiting_bar(*, shown: bool, console: Console | None = None) -> Iterator[Callable[[float], None]]:
    """What is to be called with the part that is done, 0 for as long as nobody knows; the bar is gone at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("the engine works"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console or Console(stderr=True), transient=True, disable=not shown) as bar:
        task = bar.add_task("", total=None)  # it moves to and fro until a part is known

        def progress(part: float) -> None:
            if part > 0:
                bar.update(task, total=1.0, completed=part)

        yield progress
