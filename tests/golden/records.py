"""Golden records of questions: what each means, what is counted for it, and what people read of it.

`python -m tests.golden.records` writes them anew. A commit that moves code changes none of them; one that changes behavior
says so, and shows which questions it touches. Each kind of budget has three files in `records/`:

    meaning_KIND.json   the question as it is stored, its guarantee, errors and statements, and what is released how
    reading_KIND.json   each SELECT with the rows that it gives, what is stored, and the columns of the answer
    text_KIND.json      the words: explain, describe, the printed answer, CSV, names in JSON; and those of refusals

and `text_refusals.json` has the words of all refusals of SQL that `tests/query/refusals/` knows.

Every draw of a release is the likeliest outcome of its distribution (`likeliest.py`), and groups of a person are kept by a
fixed salt, so that nothing depends on chance.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import pytest

import dither
from dither.cli.query import _csv, _facts
from dither.errors import DitherError
from dither.query.batch import Batch
from dither.query.dataset import Dataset
from dither.query.pricing.offer import Offer
from dither.terminal import stated_width
from tests.golden.clinic import BUDGETS, save
from tests.golden.hostile import REFUSED, SITUATIONS
from tests.golden.likeliest import without_chance
from tests.golden.questions import BATCHES, PRICES, QUESTIONS, TERMS
from tests.query.refusals.questions import questions as refused_questions
from tests.query.refusals.questions import refused as refused_error

FOLDER = Path(__file__).parent / "records"
FILES = ("meaning", "reading", "text")
REFUSALS = ("text", "refusals")  # one file more, which no budget decides
USUAL = {"epsilon": "0.5"}
SALT = 12345
DIGITS = 6  # of floats: the last ones may depend on the processor
NEAR = 1e-9  # relative
LONGEST_NAME = 150
Record = dict[str, Any]  # by fact
Question = tuple[str, str | list[str], dict[str, Any]]  # a name, the text or texts, and the keywords


def asked(kind: str) -> Iterator[Question]:
    """Yield every question under a kind of budget: its name, its text or texts, and its keywords."""
    for name, sql in QUESTIONS.items():
        yield name, sql, USUAL
    for question, name, terms in TERMS:
        yield f"{question}: {name}", QUESTIONS[question], _priced(terms, kind)
    for name, (questions, terms) in BATCHES.items():
        yield f"batch: {name}", [QUESTIONS[question] for question in questions], _priced(terms, kind)


def hostile() -> Iterator[Question]:
    """Yield every question that is refused, under some budget at least."""
    for name, (sql, terms) in REFUSED.items():
        yield f"refused: {name}", sql, {**USUAL, **terms}


def _priced(terms: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Add the usual price where none is stated; guarantees get the neighboring relation of the budget."""
    stated = {name: value(BUDGETS[kind][1]) if callable(value) else value for name, value in terms.items()}
    return stated if PRICES & stated.keys() else {**USUAL, **stated}


# -- one question ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Golden:
    """The records of one question, by file, with what the test of coverage looks at."""

    files: dict[str, Record]
    offers: Sequence[Offer] = ()  # none where it is free, or refused
    error: DitherError | None = None


@dataclass(frozen=True)
class Clinic:
    """The clinic with an engine that is watched."""

    data: dither.Dataset
    engine: Watched

    @classmethod
    def save(cls, folder: Path, kind: str) -> Self:
        """Make it in a folder of its own."""
        data = save(folder, kind)
        heads = {name: data.table_source(table).relation for table in data.policy.tables if (name := table.name)}
        return cls(data, Watched(data.engine, heads))

    def version(self, name: str) -> dither.Dataset:
        """Return the same data under another label, so that no question gets an answer that was stored for another one."""
        data = Dataset(replace(self.data.policy, data_version=name), self.data.ledger, self.data.sources)
        data.__dict__["engine"] = self.engine
        return data

    def golden(self, questions: Sequence[Question]) -> dict[str, Golden]:
        """Quote all questions first, since quotes say how much of the budget is left; then release and record each."""
        with stated_width("100"), redirect_stdout(io.StringIO()):  # whatever terminal this is run in
            quotes = {name: self.quoted(name, sql, terms) for name, sql, terms in questions}
            return {name: one if isinstance(one, Golden) else self.released(*one) for name, one in quotes.items()}

    def quoted(self, name: str, sql: Any, terms: dict[str, Any]) -> tuple[Any, list[str]] | Golden:
        """Return a quote with its explanation, or the record of a refusal."""
        try:
            quote = self.version(name).quote(sql, **terms)
            return quote, quote.explain()[:].splitlines()
        except DitherError as error:
            return refusal(error)

    def released(self, quote: Any, explained: list[str]) -> Golden:
        """Release a quote, and record both."""
        self.engine.seen.clear()
        try:
            with without_chance():
                answer = quote.release()
        except DitherError as error:
            return refusal(error)
        quotes, answers = ([*quote], [*answer]) if isinstance(quote, Batch) else ([quote], [answer])
        offers = [one.offer for one in quotes if one.question]
        meaning = {
            "question": quote.question,
            "guarantee": json.loads(quote.guarantee.to_json()),
            "errors": [_plain(one.errors) for one in quotes],
            "statements": [one.statements for one in answers],
            "released": [_released(offer) for offer in offers],
        }
        reading = {
            "asked": self.engine.seen[:],
            "stored": json.loads(quote.release().receipt.answer) if offers else None,
            "columns": [_plain(one.columns) for one in answers],
            "kinds": [one.kinds for one in answers],
            "beyond": [_plain(one.beyond) for one in answers],
            "uninformative": [one.uninformative for one in answers],
            "open keys": [one.open_keys for one in answers],
        }
        text = {
            "explain": explained,
            "describe": [line for one in quotes for line in one.describe()[:].splitlines()],
            "answer": str(answer).splitlines(),
            "csv": [_csv(one).splitlines()[0] for one in answers],
            "json": [*json.loads(answer.to_json())],
            "json of the command line": [[*_facts(one)] for one in answers],
        }
        return Golden({"meaning": meaning, "reading": reading, "text": text}, offers)


def refusal(error: DitherError) -> Golden:
    """Record an error: its kind and place, and its words."""
    kind = {"refused": type(error).__name__, "where": error.where}
    text = re.sub(r"\b[0-9a-f]{8}-(?=\d)", "receipt-", str(error))  # whose first part is the ledger's identity
    return Golden({"meaning": kind, "reading": {}, "text": {"refused": text}}, error=error)


def _released(offer: Offer) -> Record:
    """Record the statistics that are released, how people are bounded, and off which statistic each column is read."""
    parts = [{"is": one.code, "bounding": one.bounding.way, "noise": one.noise} for one in offer.statistics]
    columns = {name: [offer.statistics.index(one), place] for name, one, place in offer.columns}
    record: Record = {"parts": parts, "columns": columns, "confidence": str(offer.confidence)}
    if offer.choice is not None:
        record["choice"] = [offer.choice.code, offer.choice.bounding.way]
    if offer.found is not None:
        record["found"] = {one.fact: [one.bounding.way, len(one.limits), one.limits[-1]] for one in offer.found.histograms}
        record["highest"] = _released(offer.found.highest)
    if offer.constants is not None:
        record["first"] = [_released(one) for one in offer.constants.offers]
    return record


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it, floats as texts of few digits."""
    if isinstance(value, float):
        return short(value)
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value


def short(value: float) -> str:
    """Write a float with few digits; with fewer near the middle of two, which another processor might round otherwise."""
    for digits in range(DIGITS, 0, -1):
        low, high = (f"{value * (1 + way):.{digits}g}" for way in (-NEAR, NEAR))
        if low == high:
            break
    return low


# -- the engine --------------------------------------------------------------------------------------------------------


class Watched:
    """An engine that keeps each SELECT with its rows, and chooses the groups of a person by one salt."""

    def __init__(self, engine: Any, heads: Mapping[str, str]) -> None:
        self._engine, self._heads = engine, heads
        self.seen: list[Record] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def without_heads(self, sql: str) -> str:
        """Leave the read of each file out of a SELECT: it names the folder, and is the same in all questions."""
        for name, head in self._heads.items():
            sql = sql.replace(head, f"<{name}>")
        return sql

    @contextmanager
    def opened(self, sources: Sequence[Any], threads: int | None = None) -> Iterator[Any]:
        """Open the sources, and watch what is read."""
        with self._engine.opened(sources, threads) as opened:
            yield _WatchedReader(opened, self)


@dataclass(frozen=True)
class _WatchedReader:
    opened: Any
    engine: Watched

    def read(self, progress: Any = None, salt: int = 0, lists: Any = None) -> Callable[..., list[tuple[Any, ...]]]:
        run = self.opened.read(progress, SALT, lists)

        def watched(sql: str, keep: Any) -> list[tuple[Any, ...]]:
            rows = run(sql, keep)
            self.engine.seen.append({"select": self.engine.without_heads(sql), "rows": sorted(map(_row, rows))})
            return rows

        return watched


def _row(row: tuple[Any, ...]) -> str:
    # lists of packed totals come in any order
    return " | ".join(str(sorted(cell) if isinstance(cell, list) else cell) for cell in row)


# -- all of them -------------------------------------------------------------------------------------------------------


def all_golden(kind: str, folder: Path) -> dict[str, Golden]:
    """Record every question under a kind of budget."""
    clinic = Clinic.save(folder / kind, kind)
    with clinic.data.ledger:
        return clinic.golden([*asked(kind)]) | refused_golden(kind, folder)


def refused_golden(kind: str, folder: Path) -> dict[str, Golden]:
    """Record every question that is refused, and every situation in which a release is, each in a clinic of its own."""
    clinic = Clinic.save(folder / f"{kind}, refused", kind)
    with clinic.data.ledger:
        found = clinic.golden([*hostile()])
    for name, work in SITUATIONS.items():
        data = save(folder / f"{kind}, {name}", kind)
        with data.ledger, without_chance(), pytest.raises(DitherError) as refused:
            work(data)
        found[f"refused: {name}"] = refusal(refused.value)
    return found


def words_of_refusals() -> dict[str, Record]:
    """Record the words of every refusal of SQL that tests know, by the beginning of the question."""
    found: dict[str, Record] = {}
    for sql, policy in refused_questions():
        name = " ".join(str(sql).split())[:LONGEST_NAME].encode(errors="backslashreplace").decode()
        while name in found:
            name += "'"
        found[name] = {"refused": str(refused_error(sql, policy))}
    return found


def records(found: Mapping[str, Golden], file: str) -> dict[str, Record]:
    """Return the records of one file as JSON gives them back."""
    plain: dict[str, Record] = json.loads(json.dumps({name: one.files[file] for name, one in found.items()}, default=str))
    return plain


def path(file: str, kind: str) -> Path:
    """Return the place of a file of records."""
    return FOLDER / f"{file}_{kind}.json"


def written(found: Mapping[str, Record]) -> str:
    """Write a file: a line for each fact of a question, and for each part of a list."""
    return "{\n" + ",\n".join(f"{_text(name)}: {{\n{_facts_text(one)}\n}}" for name, one in found.items()) + "\n}\n"


def _facts_text(record: Record) -> str:
    return ",\n".join(f" {_text(name)}: {_fact(value)}" for name, value in record.items())


def _fact(value: Any) -> str:
    if isinstance(value, list) and len(value) > 1:
        return "[\n" + ",\n".join(f"  {_text(part)}" for part in value) + "]"
    return _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def main() -> None:
    """Write all records anew."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        os.environ["DITHER_HOME"] = home
        for kind in BUDGETS:
            found = all_golden(kind, Path(folder))
            refused = [name for name, one in found.items() if one.error is not None]
            print(f"{kind}: {len(found)} records, {len(refused)} refused: {refused}", file=sys.stderr)
            for file in FILES:
                path(file, kind).write_text(written(records(found, file)), encoding="utf-8")
        path(*REFUSALS).write_text(written(words_of_refusals()), encoding="utf-8")


if __name__ == "__main__":
    main()
