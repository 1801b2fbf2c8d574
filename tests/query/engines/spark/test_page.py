"""docs/cluster.md runs, on the session of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.snippets import Page

PAGE = Path(__file__).parent.parent.parent.parent.parent / "docs" / "cluster.md"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("session")
def test_every_snippet_runs(tmp_path):
    page = Page(PAGE)
    page.run(tmp_path)
    assert not page.absent
