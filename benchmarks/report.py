"""One way to print what was measured."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

console = Console(width=110)


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    grid = Table(*columns, title=title, title_justify="left")
    for row in rows:
        grid.add_row(*row)
    console.print(grid)


def target(name: str, reached: float, wanted: float) -> list[str]:
    """A row that says whether a ratio was reached."""
    return [name, f"{reached:.2f}x", f"{wanted:g}x", "reached" if reached >= wanted else "MISSED"]


def limit(found: float, most: float) -> list[str]:
    """Cells that say whether a ratio stayed within its limit."""
    return [f"{found:.2f}x", f"{most:g}x {'reached' if found <= most else 'MISSED'}"]
