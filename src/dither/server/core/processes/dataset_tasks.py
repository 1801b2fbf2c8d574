"""What a process of the gateway does with the datasets that it has opened: quotes, releases, budgets, history.

The desk opens them without their private sources, workers with them. Each task takes and gives what JSON can say.
"""

from __future__ import annotations

import base64
import json
import tomllib
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from dither.errors import ConflictError, DataError, DitherError, GuaranteeError, PolicyError
from dither.ledger.history import history_lines
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.batch import Batch
from dither.query.dataset import Dataset, open_without_rows
from dither.query.dataset import open as open_dataset
from dither.query.free_quote import FreeQuote
from dither.query.owner.policy_diff import policy_diff
from dither.query.policy.policy import Policy, read_policy
from dither.query.policy.toml_text import read_toml
from dither.query.quote import Quote
from dither.query.sample.first_questions import first_price, first_questions
from dither.query.sample.sample_rows import sample_rows
from dither.server.core.problems import Stage, problem_of, unavailable
from dither.server.core.processes.budget_facts import budget_facts, share_facts
from dither.server.core.processes.declared_facts import declared_facts
from dither.server.core.processes.owner_facts import closed_facts, owner_facts
from dither.server.core.processes.password_mask import masked
from dither.server.core.processes.quote_facts import quote_facts, what_is_left
from dither.server.core.token_shares import ShareTerms, read_grant, write_shares

Json = dict[str, Any]
TERMS = frozenset(
    {"epsilon", "rho", "guarantee", "error", "confidence", "size", "spread", "bounding", "delta", "other", "noise"}
    | {"intervals", "limits", "bounds"}
)
WAIT = 5.0  # seconds that a worker waits for somebody else's same answer


class DatasetTasks:
    """Datasets by name, and what is done with them."""

    def __init__(self, policies: Mapping[str, Path], *, rows: bool, strict: bool = True) -> None:
        """Open them all; where not `strict`, one that cannot be opened now is tried again whenever it is asked for."""
        self.datasets: dict[str, Dataset] = {}
        self._hidden: dict[str, tuple[str, ...]] = {}
        self._policies, self._rows, self._opening = policies, rows, Lock()
        for name in policies:
            with nullcontext() if strict else suppress(DitherError):
                self._opened(name)

    def _opened(self, name: str) -> Dataset:
        with self._opening:
            if name not in self.datasets:
                path = self._policies[name]
                self.datasets[name] = open_dataset(path) if self._rows else open_without_rows(path)
                self._hidden[name] = _places(path, self.datasets[name])
            return self.datasets[name]

    def done(self, message: Json) -> Json:
        """The reply to a message: what the task gave, or the problem that is told. Nothing is raised."""
        name = str(message.get("dataset"))
        stage: Stage = "quote"
        try:
            dataset = self._opened(name)
        except Exception as error:  # of its owner: she is told when the gateway starts, and by the facts for owners
            owner = message.get("task") == "owner_facts"
            return {"done": closed_facts(error)} if owner else {"problem": unavailable().facts()}
        try:
            if message["task"] != "release":
                return {"done": TASKS[message["task"]](dataset, message)}
            made, stage = _asked(dataset, message), "release"
            assert self._rows, "the desk reads no rows"
            try:
                return {"done": _released(made, message)}
            except GuaranteeError:  # a share that cannot count its price: told as a quote tells it, which reads no row
                stage = "quote"
                what_is_left(made, message["analyst"], _daily(message))
                stage = "release"
                raise
        except Exception as error:
            hidden = () if message["task"] == "policy_diff" else self._hidden.get(name, ())  # her own text is told back
            return {"problem": problem_of(error, stage, hidden).facts()}

    def close(self) -> None:
        """Close the ledgers."""
        for dataset in self.datasets.values():
            dataset.ledger.close()


def _places(path: Path, dataset: Dataset) -> tuple[str, ...]:
    """Texts that name a place on this machine, or a server."""
    facts = dataset.policy.ledger
    places = [str(path.resolve().parent), dataset.ledger.location, "" if facts is None else facts.location]
    places += [table.source or "" for table in dataset.policy.tables]
    return tuple(place for place in places if len(place) > 1)


def _declared(dataset: Dataset, _message: Json) -> Json:
    return declared_facts(dataset.policy)


def _asked(dataset: Dataset, message: Json) -> Quote | Batch:
    terms = dict(message["terms"])
    for extra in sorted(terms.keys() - TERMS):
        raise DataError("terms", extra, "no such term is known", ", ".join(sorted(TERMS)))
    if terms.get("guarantee") is not None:
        terms["guarantee"] = Guarantee.from_json(json.dumps(terms["guarantee"]))
    made: Quote | Batch = dataset.quote(message["sql"], **terms)
    return made


def _quote(dataset: Dataset, message: Json) -> Json:
    return quote_facts(_asked(dataset, message), message["analyst"], _daily(message))


def _daily(message: Json) -> Guarantee | None:
    return None if message["daily"] is None else Guarantee.from_json(message["daily"])


def _released(made: Quote | Batch, message: Json) -> Json:
    if isinstance(made, FreeQuote):
        return {"answer": made.release().to_json(), "receipt": None, "replay": False, "price": made.price}
    daily = _daily(message)
    how = {"idempotency_key": message["key"], "analyst": message["analyst"], "daily": daily, "door": message["door"]}
    wait = min(WAIT, message["seconds"] / 2)  # who waits for somebody else's answer is told so before time is up
    answer = made.release(**how, wait=wait)
    told = {"receipt": answer.receipt.name, "replay": answer.is_replay, "price": made.price}
    return {"answer": answer.to_json(), **told}


def _ledger(dataset: Dataset, message: Json) -> Json:
    """The last entries in words. Answers are not among them."""
    ledger, last = dataset.ledger, int(message["last"])
    count = ledger.head.entries
    entries = ledger.history(max(1, count - last + 1), count)
    lines = history_lines(entries, ledger.access_log.lines(), ledger.budget)
    return {"lines": [line.__dict__ for line in lines][-last:], "entries": count}


def _verify(dataset: Dataset, _message: Json) -> Json:
    found = dataset.ledger.verify()
    told = {"ok": found.ok, "faults": list(found.faults), "entries": found.entries}  # a ledger with faults has no head
    return told | {"signed": found.signed, "witnessed": found.witnessed}


def _grant(dataset: Dataset, message: Json) -> Json:
    """What a new token of a name has of the dataset; written down if the message says so. Only owners come here."""
    name, terms = message["name"], ShareTerms(**message["share"])
    found = dataset.policy, dataset.ledger
    try:
        grant = read_grant(message["dataset"], *found, name, message["role"], terms)
        if message["write"]:
            write_shares({grant.dataset: found}, name, [grant])
    except ConflictError as error:  # the owner is told what her ledger holds
        raise DataError(error.where, error.came, error.why, error.instead) from None
    portion = None if grant.portion is None else grant.portion.to_json()
    told = {"portion": portion, "words": grant.words(message["role"])}
    cautions = {"first": grant.new and not grant.shared, "above_left": grant.new and grant.above_left}
    return told | {"cautions": cautions | {"without_gaussian": grant.without_gaussian}}


def _refusal(dataset: Dataset, message: Json) -> Json:
    """Log a question that was refused; its text only where the policy lets texts be kept."""
    text = str(message["text"]) if dataset.policy.keeps_texts else ""
    dataset.ledger.record_refusal(text[:2000], str(message["why"])[:2000], analyst=message["analyst"], door=message["door"])
    return {}


def _sample(dataset: Dataset, message: Json) -> Json:
    """Made-up rows, as Arrow streams."""
    tables = sample_rows(dataset.policy, message["rows"])
    return {name: base64.b64encode(_stream(table)).decode("ascii") for name, table in tables.items()}


def _stream(table: Any) -> bytes:
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _first_questions(dataset: Dataset, _message: Json) -> Json:
    return {"questions": first_questions(dataset.policy), "price": first_price(dataset.policy)}


def _policy_diff(dataset: Dataset, message: Json) -> Json:
    """What another policy would change; only owners come here, and it is their text that is read."""
    try:
        stated = read_toml(message["text"])
        found = policy_diff(dataset.policy, _with_passwords(read_policy(stated), dataset.policy))
    except tomllib.TOMLDecodeError as error:
        raise DataError("policy", message["text"], f"it is not TOML: {error}", "what `dither policy init` writes") from None
    except PolicyError as error:
        raise DataError(error.where, error.came, error.why, error.instead) from None
    return {**found.to_json(), "words": found.words}


def _with_passwords(new: Policy, old: Policy) -> Policy:
    """The new policy with the addresses of the old one, where they are the same but for passwords, which are not shown."""
    if new.ledger is None or old.ledger is None:
        return new
    facts = new.ledger
    if masked(facts.location) == masked(old.ledger.location):
        facts = replace(facts, location=old.ledger.location)
    if facts.witness is not None and masked(facts.witness) == masked(old.ledger.witness or ""):
        facts = replace(facts, witness=old.ledger.witness)
    return replace(new, ledger=facts)


def _owner_facts(dataset: Dataset, message: Json) -> Json:
    """Only owners come here."""
    return owner_facts(dataset, Path(message["policy"]))


TASKS: dict[str, Callable[[Dataset, Json], Json]] = {
    "declared": _declared,
    "quote": _quote,
    "budget": budget_facts,
    "shares": share_facts,
    "ledger": _ledger,
    "verify": _verify,
    "grant": _grant,
    "refusal": _refusal,
    "sample": _sample,
    "first_questions": _first_questions,
    "policy_diff": _policy_diff,
    "owner_facts": _owner_facts,
}
