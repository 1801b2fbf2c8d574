"""`dither quote` and `dither query`: the privacy price and the error of a SQL question, and its answer."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from dither.cli.terms import Terms, takes_terms
from dither.cli.waiting_bar import waiting_bar
from dither.errors import DataError, DitherError, InputError
from dither.query.answers.answer import Answer
from dither.query.answers.batch_answer import BatchAnswer
from dither.query.answers.free_answer import FreeAnswer
from dither.query.batch import Batch
from dither.query.dataset import Dataset
from dither.query.dataset import open as open_policy
from dither.query.free_quote import FreeQuote
from dither.query.pricing.undeclared_keys import undeclared_words
from dither.query.quote import Quote
from dither.terminal import wrapped

Sql = Annotated[list[str], typer.Argument(help="A SELECT of statistics; several of them are priced and asked as one.")]
PolicyFile = Annotated[Path, typer.Option("--policy", help="The policy file.")]
Details = Annotated[bool, typer.Option("--details", help="Say what is left as the budget counts it, in ε, or ρ and δ, too.")]
FORMATS = ("table", "csv", "json", "html", "parquet")
LONGEST_TEXT = 100_000  # characters of a question that is looked at for the access log
SEVERAL = ("table", "json", "html")  # formats that hold several tables


@takes_terms
def quote(
    sql: Sql,
    policy: PolicyFile = Path("policy.toml"),
    *,
    terms: Terms,
    details: Details = False,
) -> None:
    """What a question costs and how far its answer may be off. Reads no data, costs nothing."""
    made = terms.quote(sql, open_policy(policy))
    told = re.sub(r"\(say [a-z= ]+ for a figure\)", _in_flags, made.explain(details=details))
    typer.echo(wrapped(told.replace("(limits='hard')", "(--limits hard)")))
    if isinstance(made, FreeQuote):
        typer.echo(wrapped(f"Left       {_left(made, details=details)}"))
    made.holdings.ledger.close()


def _in_flags(found: re.Match[str]) -> str:
    return re.sub(r"(\w+)=", r"--\1", found[0])


@takes_terms
def query(
    sql: Sql,
    policy: PolicyFile = Path("policy.toml"),
    *,
    terms: Terms,
    analyst: Annotated[str, typer.Option(help="Who asks, where the ledger has shares.")] = "",
    key: Annotated[str | None, typer.Option(help="An idempotency key: the same key never pays twice.")] = None,
    format: Annotated[str, typer.Option(help="table, csv, json, html or parquet.")] = "table",  # noqa: A002
    out: Annotated[Path | None, typer.Option(help="Where to write; needed for parquet.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what the numbers mean, too.")] = False,
    details: Details = False,
) -> None:
    """Ask a question: the ledger pays, then the data is read."""
    if format not in FORMATS:
        raise DataError("--format", format, "it names no format", ", ".join(FORMATS))
    if len(sql) > 1 and format not in SEVERAL:
        raise DataError("--format", format, "it holds one table, and several questions have several", ", ".join(SEVERAL))
    if format == "parquet" and out is None:
        raise DataError("--out", None, "a Parquet file is not for the screen", "--out answer.parquet")
    if out is not None and (not out.parent.is_dir() or out.is_dir() or not os.access(out.parent, os.W_OK)):
        raise DataError(
            "--out", str(out), "no file can be written there", "--out answer.csv"
        )  # said before anything is paid
    clinic = open_policy(policy)
    with _logged(clinic, sql, analyst):
        made = terms.quote(sql, clinic)
    for told in _undeclared(made):
        typer.echo(wrapped(f"note: {told}"), err=True)
    answer = _ask(made, key, analyst)
    if isinstance(answer, BatchAnswer):
        _write_all(answer, format, out)
    else:
        _write(answer, format, out)
    if out is not None and not isinstance(answer, FreeAnswer):
        clinic.ledger.record_export(answer.receipt, format, analyst=analyst, door="command line")
    if explain:
        typer.echo(str(answer.explain()), err=True)
    typer.echo(wrapped(f"left: {_left(made, details=details)}"), err=True)
    if format == "csv" and isinstance(answer, Answer):  # what its numbers say has no place in it
        typer.echo(wrapped("\n".join(part for part in (answer.says, answer.note) if part)), err=True)
    made.holdings.ledger.close()


@contextmanager
def _logged(clinic: Dataset, sql: list[str], analyst: str) -> Iterator[None]:
    """Questions that are refused go into the access log, whose texts are for the owner's eyes."""
    try:
        yield
    except InputError as error:
        text = ";\n".join(sql)[:LONGEST_TEXT] if clinic.policy.keeps_texts else ""
        with suppress(DitherError):  # the refusal is what is told, logged or not
            clinic.ledger.record_refusal(text, error.why, analyst=analyst, door="command line")
        raise


def _undeclared(made: Quote | Batch) -> list[str]:
    """What a quote says of values that are no declared keys, for those who ask without one."""
    if isinstance(made, FreeQuote):
        return []
    offers = made.offers if isinstance(made, Batch) else (made.offer,)
    return [told for offer in offers for told in undeclared_words(offer.question)]


def _left(made: Quote | Batch, *, details: bool) -> str:
    """What is left of the budget: in percent, in such questions, and with details as the budget counts it."""
    which = f"{'batch' if isinstance(made, Batch) else 'question'} like this one"
    like = None if isinstance(made, FreeQuote) else made.guarantee
    return made.holdings.ledger.remaining().words(like, which=which, details=details)


def _ask(made: Quote | Batch, key: str | None, analyst: str) -> Answer | BatchAnswer:
    shown = sys.stderr.isatty() and sys.stdout.isatty()
    with waiting_bar(shown=shown) as progress:
        return made.release(idempotency_key=key, analyst=analyst, progress=progress)


def _write(answer: Answer, kind: str, out: Path | None) -> None:
    import json

    if kind == "parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(answer.to_arrow(), out)
        return
    if kind == "csv":
        text = _csv(answer)
    elif kind == "json":
        text = json.dumps(_facts(answer), indent=2, ensure_ascii=False) + "\n"
    else:
        text = answer.to_html() if kind == "html" else f"{answer}\n"
    _put(text, out)


def _write_all(answers: BatchAnswer, kind: str, out: Path | None) -> None:
    import json

    if kind == "json":
        text = json.dumps([_facts(answer) for answer in answers], indent=2, ensure_ascii=False) + "\n"
    else:
        text = answers.to_html() if kind == "html" else f"{answers}\n"
    _put(text, out)


def _put(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")


def _facts(answer: Answer) -> dict[str, Any]:
    import json

    facts: dict[str, Any] = {
        "rows": [{name: _plain(value) for name, value in row.items()} for row in answer.rows()],
        "statements": answer.statements,
        "says": answer.says,
        "beyond": answer.beyond,
        "confidence": str(answer.confidence),
    }
    also = {"note": answer.note, "uninformative": answer.uninformative, "open_keys": answer.open_keys}
    also["unprotected"] = answer.unprotected
    facts |= {name: told for name, told in also.items() if told}
    if isinstance(answer, FreeAnswer):
        return {**facts, "price": answer.price}
    facts |= {
        "guarantee": json.loads(answer.receipt.guarantee.to_json()),
        "receipt": json.loads(answer.receipt.to_json()),
    }
    facts["receipt"].pop("answer", None)
    return facts


def _csv(answer: Answer) -> str:
    import csv
    import io

    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(answer.columns)
    writer.writerows(zip(*answer.columns.values(), strict=True))
    return file.getvalue()


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (int, float, str, bool)) else str(value)
