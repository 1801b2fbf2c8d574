"""`python -m tests.query.corpus.record`: asks all questions of the corpus, and writes down what becomes of each."""

from __future__ import annotations

import os
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.question_files import FileQuestion, Found, find, read_questions, record, tally

import dither
from tests.query.corpus.tables import datasets

HERE = Path(__file__).parent
RECORD = HERE / "record.json"


def world_of(question: FileQuestion) -> str:
    """The tables that a question is about: what stands before the colon."""
    return question.name.partition(":")[0]


def questions() -> dict[str, list[FileQuestion]]:
    """All of them, by their file."""
    return {path.stem: read_questions(path) for path in sorted(HERE.glob("*.sql"))}


def verdicts() -> dict[str, Found]:
    """Of all questions, by their quotes."""
    with tempfile.TemporaryDirectory(prefix="dither-corpus-") as name:
        os.environ["DITHER_HOME"] = str(Path(name) / "home")
        data = datasets(Path(name), dither.approx(100, "1e-6"))
        found = {}
        for section, several in questions().items():
            for one in several:
                asked = data[world_of(one)]
                found[f"{section}/{one.name}"] = find(one, partial(asked.quote, epsilon=1))
        return found


if __name__ == "__main__":
    found = verdicts()
    record(RECORD, found)
    for name, one in found.items():
        if one.verdict == "refused":
            print(f"{name}: {one.why} | {one.instead}")
    print(len(found), "questions:", tally(found.values()))
