"""What a terminal shows while an engine works."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from dither.cli.waiting_bar import waiting_bar


@pytest.mark.parametrize("part", [0.0, 0.5])
def test_seconds_and_parts(part, monkeypatch):
    """Seconds always; a bar that is partly full only where the engine tells the part."""
    import rich.progress

    tasks, real = [], rich.progress.Progress.add_task
    monkeypatch.setattr(rich.progress.Progress, "add_task", lambda bar, *a, **k: tasks.append(bar) or real(bar, *a, **k))
    file = io.StringIO()
    with waiting_bar(shown=True, console=Console(file=file, force_terminal=True, width=60)) as progress:
        progress(part)
        (bar,) = tasks
        (task,) = bar.tasks
        bar.refresh()
        assert (task.total, task.completed) == ((1.0, 0.5) if part else (None, 0))
    assert "the engine works" in file.getvalue()
    assert "0:00:0" in file.getvalue()


def test_nothing_where_nobody_looks():
    file = io.StringIO()
    with waiting_bar(shown=False, console=Console(file=file, force_terminal=True, width=60)) as progress:
        progress(0.0)
        progress(0.5)
    assert not file.getvalue()
