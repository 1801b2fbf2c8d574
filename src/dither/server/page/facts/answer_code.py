"""Code that gives an answer again for nothing: in Python, as SQL, and with curl.

A stored answer is fetched by the name of its receipt. One that is not stored is asked again at the same terms, for which
the ledger has its answer. No text of a question or a name can end its quotes: each is written by the quoting of the language
that it stands in, in ASCII.
"""

from __future__ import annotations

import json
import shlex
from typing import Any
from urllib.parse import quote as escaped

from dither.server.core.questions import Question

HEADER = '"Authorization: Bearer $DITHER_TOKEN"'  # in double quotes, so that the shell puts the token in


def python_code(question: Question, address: str) -> str:
    """With `dither.connect`; the token is that of the variable DITHER_TOKEN."""
    lines = ["import dither", "", f"dataset = dither.connect({address!a})[{question.dataset!a}]"]
    if is_stored(question):
        return "\n".join([*lines, f"print(dataset.answer({question.id!a}))"])
    asked = question.asked
    terms = [f"{name}={_python(name, value)}" for name, value in asked.terms.items() if value is not None]
    return "\n".join([*lines, f"print(dataset.quote({', '.join([ascii(asked.sql), *terms])}).release())"])


def _python(name: str, value: Any) -> str:
    return f"dither.Guarantee.from_json({json.dumps(value)!a})" if name == "guarantee" else ascii(value)


def sql_code(question: Question) -> str:
    """The question, or the questions of a batch."""
    asked = question.asked.sql
    return asked if isinstance(asked, str) else ";\n".join(asked)


def curl_code(question: Question, address: str) -> str:
    """For a shell; the token is that of the variable DITHER_TOKEN."""
    if is_stored(question):
        place = shlex.quote(f"{address}/v1/answers/{escaped(question.id, safe='')}")
        return f"curl {place} -H {HEADER} -H 'Accept: text/csv'"
    asked = question.asked
    slot = {} if asked.slot is None else {"slot": asked.slot}
    body = json.dumps({"dataset": asked.dataset, "sql": asked.sql, **asked.terms, **slot})  # ASCII alone
    kind = "-H 'Content-Type: application/json'"
    return f"curl {shlex.quote(f'{address}/v1/queries')} -H {HEADER} {kind} -d {shlex.quote(body)}"


def is_stored(question: Question) -> bool:
    """Whether everybody who may see it finds it by its receipt."""
    return question.receipt is not None and question.id == question.receipt
