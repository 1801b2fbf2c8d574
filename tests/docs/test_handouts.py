"""Notebooks of the notes and sheets of exercises: whole, made from the pages alone, and one of them is run."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import re
import warnings
from pathlib import Path

import pytest
from mkdocs_handouts import notebook, sheets

from tests.docs.snippets import agrees, blocks

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGES = [*sorted((DOCS / "notes").glob("*.md")), DOCS / "exercises.md"]
EXERCISES = (DOCS / "exercises.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_notebook_has_the_code_and_the_outputs_of_its_page(page):
    """The page runs in `test_pages`, in this order and in one namespace: so does the notebook."""
    made = json.loads(notebook(page))
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in made["cells"]]
    assert len(set(ids)) == len(ids)
    code = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
    assert ["".join(cell["source"]) + "\n" for cell in code] == [text for kind, text in blocks(page) if kind == "python"]
    shown = ["".join(out["text"]) for cell in code for out in cell["outputs"]]
    assert shown == [text for kind, text in blocks(page) if kind.startswith("output")]
    text = "\n".join("".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "markdown")
    assert not re.search(r"\]\((?!https?:|attachment:)", text), "a notebook stands alone: no link leads beside it"
    named = re.findall(r"attachment:([^)]+)\)", text)
    told = re.findall(r"!\[([^\]]+)\]\([^)]+\.svg\)", page.read_text())
    assert re.findall(r"!\[([^\]]+)\]\(attachment:", text) == told  # for who does not see a picture
    assert len(told) == len(named)
    kept = {name: data for cell in made["cells"] for name, data in cell.get("attachments", {}).items()}
    assert sorted(set(named)) == sorted(kept)
    assert all(base64.b64decode(data["image/svg+xml"]).startswith(b"<svg") for data in kept.values())


def test_a_notebook_runs_from_top_to_bottom(tmp_path):
    made, namespace = json.loads(notebook(DOCS / "notes" / "mechanisms.md")), {"__name__": "__main__"}
    with contextlib.chdir(tmp_path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cell in made["cells"]:
            if cell["cell_type"] == "code":
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    exec("".join(cell["source"]), namespace)
                for out in cell["outputs"]:
                    assert agrees("".join(out["text"]), printed.getvalue(), floats=True)


def test_an_output_that_follows_no_code_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```python\nprint(1)\n```\n\nIt prints\n\n```output\n1\n```\n")
    with pytest.raises(ValueError, match="behind a text"):
        notebook(page)


def test_sheets_have_every_exercise_once_and_no_solution():
    made = sheets(EXERCISES)
    assert set(made) == {"optimal", "primitives", "basics", "density"}
    text = "\n".join(made.values())
    assert [int(n) for n in re.findall(r"^## (\d+) ", text, re.MULTILINE)] == list(range(1, 24))
    for word in ("By hand", "```", "Wrong", "test_", "All answers"):
        assert word in EXERCISES
        assert word not in text
    assert text.count('class="room"') == 23


def test_an_exercise_that_is_on_no_sheet_is_noticed():
    planted = EXERCISES.replace("20 to 23 to", "20 to 22 to")
    assert planted != EXERCISES
    with pytest.raises(ValueError, match=r"\[23\]"):
        sheets(planted)
