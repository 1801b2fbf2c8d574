"""Golden records: what each question was understood as, its price, errors and words, and what was counted for it.

`python -m tests.golden.records` writes them anew. That is done before a rebuild, never to make a test pass: a difference
is a change of behaviour, and belongs into a commit that says so.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import dither
from dither.errors import DitherError
from dither.query import release as releasing
from dither.query.answers.batch_answer import BatchAnswer
from dither.query.engines.duckdb import run as engine
from dither.testing import seeded
from tests.golden.clinic import BUDGETS, save
from tests.golden.questions import BATCHES, QUESTIONS, TERMS

FOLDER = Path(__file__).parent / "records"
Record = dict[str, Any]
SALT = 12345
LOUD = {"loud": {"rho": 10**9}, "loud pure": {"epsilon": 5000}}


def asked(kind: str) -> Iterator[tuple[str, Any, dict[str, object]]]:
    """Every question under a kind of budget: its name, its text or texts, and what else is stated."""
    price = LOUD.get(kind, {"epsilon": "0.5"})
    for name, sql in QUESTIONS.items():
        yield name, sql, price
    for name, (question, terms) in TERMS.items():
        stated = price if not {"error", "rho"} & set(terms) else {}
        yield f"{question}: {name}", QUESTIONS[question], {**stated, **terms}
    for name, questions in BATCHES.items():
        yield f"batch: {name}", [QUESTIONS[question] for question in questions], price


def record(data: dither.Dataset, sql: Any, terms: dict[str, object], kind: str) -> Record:
    """What is known of a question before it is asked; where the price leaves no noise, also what was counted."""
    try:
        quote = data.quote(sql, **terms)
    except DitherError as error:
        return {"refused": type(error).__name__, "why": error.why, "instead": error.instead}
    if kind in LOUD:
        return counted(quote)
    return {
        "question": quote.question,
        "guarantee": json.loads(quote.guarantee.to_json()),
        "price": quote.price,
        "errors": rounded(quote.errors),
        "explain": quote.explain().splitlines(),
    }


def rounded(errors: Any) -> Any:
    if isinstance(errors, list):
        return [rounded(one) for one in errors]
    return {name: short(error) for name, error in errors.items()}


def counted(quote: Any) -> Record:
    """Rows of the engine in order, and what is stored and shown with noise from a seed."""
    with engine_rows() as seen, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with seeded(1):
            answer = quote.release()
    several = list(answer) if isinstance(answer, BatchAnswer) else [answer]
    found = {"counted": seen, "columns": [list(one.columns) for one in several], "lengths": [len(one) for one in several]}
    rows = [[{name: short(cell) for name, cell in row.items()} for row in one.rows()] for one in several]
    return {**found, "stored": json.loads(quote.release().receipt.answer), "rows": rows}


def short(value: Any) -> Any:
    """Nine digits of a float: the rest may depend on the processor."""
    return float(f"{value:.9g}") if isinstance(value, float) else value


@contextmanager
def engine_rows() -> Iterator[list[Any]]:
    """All that the engine hands over, each SELECT sorted; groups are chosen with the same salt every time."""
    seen: list[Any] = []
    real = engine._fetch

    def watched(connection: Any, sql: str, keep: Any, progress: Any) -> Any:
        rows = real(connection, sql, keep, progress)
        # lists of packed totals come in any order
        seen.append(sorted([str(sorted(cell) if isinstance(cell, list) else cell) for cell in row] for row in rows))
        return rows

    same = mock.patch.object(releasing.secrets, "randbits", return_value=SALT)
    with mock.patch.object(engine, "_fetch", watched), same:
        yield seen


def records(kind: str, folder: Path) -> dict[str, Record]:
    data = save(folder / kind.replace(" ", "_"), kind)
    found = {name: record(data, sql, terms, kind) for name, sql, terms in asked(kind)}
    data.ledger.close()
    return json.loads(json.dumps(found, default=str))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        os.environ["DITHER_HOME"] = home
        for kind in BUDGETS:
            found = records(kind, Path(folder))
            refused = [name for name, one in found.items() if "refused" in one]
            print(f"{kind}: {len(found)} records, {len(refused)} refused: {refused}", file=sys.stderr)
            lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one, sort_keys=True)}" for name, one in found.items())
            (FOLDER / f"{kind.replace(' ', '_')}.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
