"""The verdicts on docs/sql.md, from the records: `python -m tests.docs.sql_page` writes them anew."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.clickbench import verdicts as clickbench
from benchmarks.question_files import FileQuestion, Found, read_questions, recorded, tally
from benchmarks.tpch import verdicts as tpch

PAGE = Path(__file__).parent.parent.parent / "docs" / "sql.md"
SETS = {"tpch": tpch, "clickbench": clickbench}


def _row(question: FileQuestion, found: Found) -> str:
    told = {
        **{"answered": "", "free": "public tables alone", "rewritten": question.how, "empty": question.empty},
        "refused": question.because or found.why,
    }
    return f"| {question.name} | {question.asks} | {found.verdict} | {told[found.verdict]} |"


def verdicts(name: str) -> str:
    """The table of a benchmark, and how many there are of each verdict."""
    module = SETS[name]
    known = recorded(module.RECORD)
    rows = [_row(one, known[one.name]) for one in read_questions(module.QUERIES)]
    return "\n".join([f"{tally(known.values())}.", "", "| query | asks | verdict | why |", "|---|---|---|---|", *rows])


def written(page: str) -> str:
    """The page with its tables of verdicts as they are recorded."""
    for name in SETS:
        found = f"<!-- {name} -->\n\n{verdicts(name)}\n"
        page = re.sub(rf"<!-- {name} -->\n(?:(?!## ).*\n)*", lambda _, found=found: f"{found}\n", page)
    return page.rstrip("\n") + "\n"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
