"""Stored formats: one of each, as it was written by the version that docs/formats.md lists.

`python -m tests.golden.formats` writes the files that are missing. A file that is there is never written again: it stands
for what is stored somewhere, and must be read for as long as its version is listed. Files of TOML are written by people.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import dither
from dither import Loss
from dither.ledger.access_log import ALL
from dither.ledger.entries.entry import Head, write
from dither.ledger.storage.database import EntryRow
from dither.ledger.storage.locations import open_database
from dither.ledger.storage.signing_keys import KeyFile, SigningKey, SigningKeys
from dither.ledger.witness import Witness, prepare
from dither.privacy.budget.filter import (
    approx_filter,
    gaussian_filter,
    renyi_filter,
    some_order_filter,
    sum_filter,
    zcdp_filter,
)
from dither.query.plan.spelling import spelled_attributes
from dither.testing import seeded
from tests.golden.clinic import save

FOLDER = Path(__file__).parent / "formats"


def guarantees() -> list[dither.Guarantee]:
    every = dither.pure(1) + dither.zcdp("0.1") + dither.gdp("0.5") + dither.approx(1, "1e-6") + dither.renyi({2: "0.1"})
    by_loss = dither.Guarantee.from_loss(3 * Loss.gaussian(5) + Loss.laplace(1), unit="add/remove one person")
    return [every + dither.bounded_range(dither.ln(3)), by_loss, dither.pure("0.5", unit="replace one person")]


def losses() -> list[Loss]:
    sampled = Loss.poisson_subsampled(Loss.gaussian(2), rate="0.01")
    return [3 * Loss.gaussian(5) + Loss.laplace(1), 10 * sampled, Loss.discrete_gaussian(3), Loss.randomized_response("3/4")]


def filters() -> list[Any]:
    """As version 1 has them: a pure epsilon costs epsilon^2/2."""
    zcdp, approx = (replace(one, classical=True) for one in filters_that_count_rho())
    some = [sum_filter(1, "1e-6"), zcdp, gaussian_filter(1), renyi_filter({2: 1, 8: 3})]
    return [*some, approx, some_order_filter(3, "1e-6", orders=[2, 4, 8])]


def guarantees_with_rho() -> list[dither.Guarantee]:
    own = dither.Geometric(epsilon="0.5", sensitivity=3).guarantee
    return [own, 2 * own + dither.pure("0.5") + dither.gdp(1), dither.pure(1, rho="1/5", unit="replace one person")]


def filters_that_count_rho() -> list[Any]:
    return [zcdp_filter("0.5", "1e-7"), approx_filter(3, "1e-6")]


def survey() -> Any:
    return dither.local.DirectEncoding(["yes", "no", "unsure"], epsilon=1)


def survey_of_large_numbers() -> Any:
    return dither.local.DirectEncoding([2**53 - 1, 2**53, 2**53 + 1, (-(2**53), 7), str(2**53)], epsilon=1)


def reports() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with seeded(1):
            return survey().randomize(["yes", "no", "yes", "unsure"])


def reports_with_ids() -> Any:
    return reports().with_ids([b"0123456789abcdef", b"fedcba9876543210", b"0123456789abcdef", bytes(16)])


def register() -> Any:
    found = dither.local.ClientRegister(part=0, parts=2)
    found.first(reports_with_ids())
    return found


def ledger() -> dict[str, Any]:
    """All kinds of entries but a move, and refusals and exports, which entries of old have: the rows as they are stored, and
    the key that signs them."""
    with (
        home_of_its_own() as folder,
        dither.Ledger.create(folder / "a.ledger", budget=dither.approx(3, "1e-6"), domain="clinic") as made,
    ):
        made.amend("0" * 64, loosens=False, note="limits")
        made.share("ann", dither.approx(1, "1e-6"))
        asked = {"analyst": "ann", "text": "SELECT COUNT(*) FROM visits", "door": "test"}
        first = made.reserve(dither.pure("0.1"), {"count": "rows"}, **asked)
        made.commit(first, "42")
        made.reserve(dither.pure("0.1"), {"count": "rows"}, idempotency_key="k", **asked)
        made.refund(made.reserve(dither.zcdp("0.01"), "another", analyst="ann"))
        return {"key": made.handle.key.hex(), "rows": signed_again(made), "receipt": first.to_json()}


@contextmanager
def home_of_its_own() -> Iterator[Path]:
    """A folder for files, and another for the keys and heads that go elsewhere."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        before, os.environ["DITHER_HOME"] = os.environ.get("DITHER_HOME"), home
        try:
            yield Path(folder)
        finally:
            if before is not None:
                os.environ["DITHER_HOME"] = before


def access_log() -> dict[str, Any]:
    """A line of each kind."""
    with (
        home_of_its_own() as folder,
        dither.Ledger.create(folder / "a.ledger", budget=dither.pure(3), domain="clinic") as made,
    ):
        receipt = made.reserve(dither.pure("0.1"), "how many")
        made.commit(receipt, "42")
        made.record_refusal("SELECT name FROM visits", "names are not released", analyst="ann", door="test")
        made.record_export(receipt, "csv", analyst="ann", door="test")
        with closing(sqlite3.connect(folder / "a.ledger")) as link:
            rows = link.execute(ALL).fetchall()
        return {"key": made.handle.key.hex(), "ledger": made.identity, "rows": rows}


def head() -> dict[str, Any]:
    """The head of a ledger at a place that tells nothing of the machine."""
    key, identity, at = b"k" * 32, "a" * 32, Head(5, "0" * 64)
    with home_of_its_own() as folder, closing(open_database(folder / "heads")) as database:
        prepare(database)
        (folder / "a.key").write_text(key.hex())
        Witness(database, identity, "a.ledger", KeyFile(folder / "a.key", identity)).advance(
            at, SigningKeys((SigningKey(key),))
        )
        with closing(sqlite3.connect(folder / "heads")) as link:
            [row] = link.execute("SELECT ledger, place, count, hash, mac FROM heads").fetchall()
    return {"key": key.hex(), "row": row}


def signed_again(made: dither.Ledger) -> list[list[Any]]:
    """The rows, with a place that tells nothing of the machine."""
    rows, last = [], None
    for entry in made.history():
        body = {**entry.body, "place": "a.ledger"} if entry.kind == "created" else entry.body
        told = {"time": entry.time, "body": body, "state": entry.state, "answer": entry.answer}
        row, last = write(made.handle.key, last, entry.kind, **told)
        rows.append(list(row))
    return rows


def answer() -> str:
    """With keys, whole numbers and averages, under a key and a ledger that are gone."""
    return answer_to("SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward", epsilon="0.5")


def batch_answer() -> str:
    several = ["SELECT COUNT(*) AS n FROM visits", "SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward"]
    return answer_to(several, epsilon="0.5")


def answer_to(sql: str | list[str], **terms: Any) -> str:
    with home_of_its_own() as folder:
        return save(folder / "clinic", "rho").quote(sql, **terms).release().to_json()


WRITTEN: dict[str, Callable[[], Any]] = {
    "guarantee-1": lambda: [one.to_json() for one in guarantees()],
    "guarantee-2": lambda: [one.to_json() for one in guarantees_with_rho()],
    "loss-1": lambda: [one.to_json() for one in losses()],
    "filter-1": lambda: [one.to_json() for one in filters()],
    "filter-2": lambda: [one.to_json() for one in filters_that_count_rho()],
    "reports-1": lambda: reports().to_bytes().hex(),
    "reports-2": lambda: reports_with_ids().to_bytes().hex(),
    "tally-1": lambda: survey().tally(reports()).to_json(),
    "tally-2": lambda: survey().tally(reports_with_ids()).to_json(),
    "client-register-1": lambda: register().to_bytes().hex(),
    "client-table-1": lambda: survey().client_table(),
    "client-table-2": lambda: survey_of_large_numbers().client_table(),
    "ledger-entry-2": ledger,
    "access-log-1": access_log,
    "head-1": head,
    "answer-1": answer,  # as it was written; a new one would be of version 2
    "answer-2": answer,
    "free-answer-1": lambda: answer_to("SELECT DISTINCT ward FROM visits"),
    "batch-answer-1": batch_answer,
}


def rows_of(stored: dict[str, Any]) -> list[EntryRow]:
    return [EntryRow(*row) for row in stored["rows"]]


def codes() -> dict[str, list[str]]:
    """Every class that is spelled in stored questions: its code, and its fields as they are spelled."""
    for module in pkgutil.walk_packages(dither.__path__, "dither."):
        if module.name.split(".")[1] in ("query", "density", "mechanisms"):
            importlib.import_module(module.name)
    found: dict[str, list[str]] = {}
    todo: list[type] = [object]
    while todo:
        kind = todo.pop()
        todo += type.__subclasses__(kind)
        if str(kind.__module__).startswith("dither.") and isinstance(vars(kind).get("code"), str):
            names = getattr(kind, "spelled_fields", {})
            code = vars(kind)["code"]
            assert code not in found, f"two classes are spelled {code}"
            own = not hasattr(kind, "spelled")  # statistics and choices say for themselves what decides
            found[code] = [names.get(name, name) for name in (spelled_attributes(kind) if own else None) or ()]
    return found


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, make in WRITTEN.items():
        path = FOLDER / f"{name}.json"
        if not path.exists():
            path.write_text(json.dumps(make(), indent=1) + "\n")
            print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
