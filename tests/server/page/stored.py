"""Answers of every kind, with texts in them that mean harm, and a gateway that keeps them."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow
import pytest

import dither
from dither.query.answers.free_answer import FreeAnswer
from dither.server.core.gateway import Gateway
from dither.server.core.questions import Asked, Question
from dither.testing import seeded
from tests.server.gateways import config, running

MARKUP = "<script>window.pwned=1</script>"
TURNED = "\u202eevil\u2066"  # turns what follows
KEYS = [MARKUP, "=1+1", TURNED, "x\x07y", "a'b\"c&d", "שלום", "A"]
HEAD = '"><img src=x onerror=alert(1)>'  # the name of a column
SQL = 'SELECT ward, COUNT(*) AS n, AVG(age) AS "{}" FROM v GROUP BY ward'.format(HEAD.replace('"', '""'))
_names = itertools.count()


@cache
def answers() -> dict[str, dither.Answer | dither.BatchAnswer]:
    """An answer of each kind, by its name."""
    with ExitStack() as opened:
        folder = opened.enter_context(TemporaryDirectory())
        patch = opened.enter_context(pytest.MonkeyPatch.context())
        opened.enter_context(warnings.catch_warnings(action="ignore"))
        opened.enter_context(seeded(5))
        patch.setenv("DITHER_HOME", f"{folder}/home")
        (Path(folder) / "ledger").mkdir()
        ledger = dither.Ledger.create(f"{folder}/ledger/v.ledger", budget=dither.approx(100, "1e-6"))
        rows = pyarrow.table({"who": list(range(70)), "ward": KEYS * 10, "age": [30] * 70})
        people = dither.protect(
            rows, name="v", person="who", max_rows=2, ledger=ledger, keys={"ward": KEYS}, bounds={"age": (0, 100)}
        )

        def asked(sql: str | list[str]) -> dither.Answer | dither.BatchAnswer:
            return people.quote(sql, epsilon=1).release()  # type: ignore[return-value, arg-type]

        counts = "SELECT ward, COUNT(*) AS n FROM v GROUP BY ward"
        found = {
            "groups": asked(SQL),
            "counts": asked(counts),
            "number": asked("SELECT COUNT(*) AS n FROM v"),
            "median": asked("SELECT MEDIAN(age) AS m FROM v"),
            "ranks": asked("SELECT ward, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM v GROUP BY ward"),
            "batch": asked([counts, "SELECT SUM(age) AS s FROM v"]),
            "free": people.quote("SELECT * FROM v LIMIT 0").release(),
        }
        ledger.close()
    return found  # type: ignore[return-value]


def question(answer: dither.Answer | dither.BatchAnswer, **facts: object) -> Question:
    """A question that is answered, as a gateway gives a stored one."""
    free = isinstance(answer, FreeAnswer)
    name = "qy_1" if free else answer.receipt.name
    sql = [one.sql for one in answer] if isinstance(answer, dither.BatchAnswer) else answer.sql
    made = Question(name, Asked("clinic", sql), "ana", "", None)
    made.answer, made.receipt, made.replay = answer.to_json(), None if free else name, not free
    for part, value in facts.items():
        setattr(made, part, value)
    made.end("done")
    return made


def keep(
    gateway: Gateway,
    answer: dither.Answer | dither.BatchAnswer,
    *,
    dataset: str = "clinic",
    analyst: str = "ana",
    sql: str | None = None,
) -> str:
    """Store an answer under a new receipt, as if somebody had paid for it; gives its name."""
    name = f"test-{next(_names)}"
    text = (
        sql
        if sql is not None
        else ";\n".join(one.sql for one in (answer if isinstance(answer, dither.BatchAnswer) else [answer]))
    )
    gateway.stored.keep(dataset, name, analyst, "ε = 1", text, answer.to_json())
    return name


@contextmanager
def gateway(folder: Path) -> Iterator[Gateway]:
    """Two datasets: answers of the one are shared, of the other everybody's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DITHER_HOME", str(folder / "home"))
        made = config(folder, "clinic", "alone")
        first, second = made.datasets
        with running(replace(made, datasets=(first, replace(second, answers="own")))) as found:
            yield found


class Elements(HTMLParser):
    """What a browser would make of a page: its elements, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        """All words."""
        return " ".join("".join(self.words).split())

    def every(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of each such element."""
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def links(self) -> list[str]:
        """Where one can go."""
        return [str(one["href"]) for one in self.every("a")]
