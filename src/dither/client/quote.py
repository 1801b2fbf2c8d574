"""Quotes of a gateway: price and error of a question, and its release over HTTP.

Theorem. However often a quote is released, and whichever replies are lost, the ledger is charged for it at most once.

Proof. Every request of a quote to release it carries the same Idempotency-Key, which is made with the quote from 128 random
bits or given by the caller. The ledger charges for a key at most once, and gives what it stored to whoever comes with the
key again (`ledger/ledger.py`, `reserve`). A key that stands for another question is refused, and charges nothing. ∎
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self, TypeVar

from dither.arguments import argument_errors
from dither.client.exchange import Reply, Request
from dither.client.parts import Parts, identifier, read_json, sign_text, wrong
from dither.client.session import FIRST_PAUSE, LARGE, Session, as_json
from dither.errors import ConflictError, DataError, DitherError, GatewayError, InProgressError, NumberError
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.answers.answer import Answer
from dither.query.answers.batch_answer import BatchAnswer, any_from_record
from dither.query.answers.table import preformatted
from dither.terminal import Explanation

WAIT = 600.0  # seconds for an answer, as in one process
LONG_POLL = 30  # seconds that a gateway holds a reply back for an answer, at most
LOOK = 1.0  # seconds between two looks, where somebody watches
LONGEST_KEY = 200
ONCE = "release() of the same quote again, which pays at most once"
Progress = Callable[[float], None]
Found = TypeVar("Found", Answer, BatchAnswer)


@argument_errors
@dataclass(frozen=True, eq=False)
class RemoteQuote:
    """What a question would cost and how far its answer may be off; `release` asks it. Made by `RemoteDataset.quote`.

    Args:
        asked: what was sent for it.
        id: by which the gateway knows it, for ten minutes.
        dataset: the dataset's name.
        sql: the question, as it was put.
        free: whether it needs no row, and costs nothing.
        price: the guarantee as people know it.
        confidence: the probability of each error bar.
        unprotected: what the guarantee does not cover; '' where there is nothing.
        idempotency_key: under which it is charged, once.

    Raises:
        BudgetError, ConflictError, InProgressError, ReleaseError, GatewayError: by `release`, which see.
        DataError: a free question has no such member.

    Example:
        >>> from dither.client.quote import RemoteQuote
        >>> RemoteQuote.__name__
        'RemoteQuote'
    """

    session: Session = field(repr=False)
    asked: dict[str, Any] = field(repr=False)
    told: Parts = field(repr=False)
    id: str = field(repr=False)
    dataset: str
    sql: str | list[str]
    free: bool = field(repr=False)
    price: str
    confidence: Fraction
    unprotected: str = field(repr=False)
    words: str = field(repr=False)  # price, error and what is left, in a line
    idempotency_key: str = field(repr=False)

    @classmethod
    def make(cls, session: Session, asked: dict[str, Any], found: Any) -> Self:
        """The quote of what a gateway replied."""
        told = Parts(found, "quote")
        try:
            confidence = Fraction(told.text("confidence", "1"))
        except (ValueError, ZeroDivisionError):
            raise wrong("quote.confidence") from None
        return cls(
            session,
            asked,
            told,
            identifier(told.text("id"), "quote.id"),
            asked["dataset"],
            asked["sql"],
            told.flag("free"),
            _shown(told, "price"),
            confidence,
            _shown(told, "unprotected", ""),
            _shown(told, "words", ""),
            secrets.token_hex(16),
        )

    @property
    def errors(self) -> dict[str, float | None]:
        """How far each aggregate may be off because of noise; None where that is not known before."""
        return self.told.numbers("errors") if self.told.has("errors") else {}

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the whole release: what the ledger will charge."""
        found = self.told.raw("guarantee")
        if found is None:
            raise DataError("guarantee", self.sql, "the question is free, and nothing is charged for it", "quote.price")
        try:
            return Guarantee.from_json(found if isinstance(found, str) else json.dumps(found))
        except (DitherError, RecursionError):
            raise wrong("quote.guarantee") from None

    def epsilon(self) -> float:
        """The epsilon of this one question, rounded up, as its price says it; at a delta where the price has one."""
        found = self.told.number("epsilon")
        if found is None:
            raise DataError(
                "epsilon", self.price, "its price is not one epsilon", "quote.price, quote.guarantee.epsilon('1e-6')"
            )
        return found

    @property
    def affordable(self) -> int:
        """How many questions of this price are left: of the budget or of your share, whichever is less."""
        found = None if self.free else self.told.whole("left")
        if found is None:
            raise DataError("affordable", self.sql, "the question is free, and can be asked for ever", "quote.release()")
        return found

    def explain(self) -> Explanation:
        """Price, error, bounds and what they mean, in words."""
        return Explanation(_shown(self.told, "explain"))

    def describe(self) -> Explanation:
        """How dither understood the SQL, clause by clause."""
        return Explanation(_shown(self.told, "describe"))

    @property
    def columns(self) -> dict[str, str]:
        """The columns that the answer will have, and what each holds; empty where that is known with the answer."""
        several = self.told.objects("columns") if self.told.has("columns") else []
        return {one.text("name"): one.text("kind") for one in several}

    def __str__(self) -> str:
        return str(self.explain())

    def _repr_html_(self) -> str:
        return preformatted(self.explain())

    @argument_errors
    def release(self, *, idempotency_key: str | None = None, progress: Progress | None = None, wait: float = WAIT) -> Answer:
        """Charge the ledger, then ask. The same question under the same policy and data version is answered for free.

        Args:
            idempotency_key: a name for this charge, if not the quote's own: the same key never pays twice, and stands for
                one question.
            progress: called about once a second with the part that is done, which is 0 until it is done: a gateway does
                not tell how far it is, since that depends on the data.
            wait: seconds for the answer. It is computed on when they are over, and `release` again gets it.

        Raises:
            BudgetError: what is left of the budget, or of your share, is less than the price.
            ConflictError: the price changed since the quote, or the key stands for another question.
            InProgressError: it is not ready yet.
            ReleaseError: it failed after data was read; the charge stays.
            GatewayError: the gateway cannot be reached, or takes no token of yours.
        """
        return self._answer(Answer, idempotency_key, progress, wait)

    def _answer(self, kind: type[Found], key: str | None, progress: Progress | None, wait: float) -> Found:
        if not isinstance(wait, (int, float)) or isinstance(wait, bool) or not 0 <= wait < 10**7:
            raise NumberError("wait", wait, "it is no number of seconds", "wait=600")
        asks = _Release(self.session, _key(self.idempotency_key if key is None else key), progress, time.monotonic() + wait)
        try:
            try:
                found = asks.answer({"quote": self.id})
            except DataError:  # ten minutes are over, or the gateway began anew
                found = asks.answer({"quote": self._again().id})
            if not isinstance(found, kind):
                raise wrong("answer")
            return found
        except GatewayError as error:
            instead = error.instead if error.where == "token" else f"{error.instead}; then {ONCE}"
            raise GatewayError(error.where, error.came, error.why, instead) from None

    def _again(self) -> RemoteQuote:
        """The same question, quoted anew; refused where it is another price now."""
        made = type(self).make(self.session, self.asked, self.session.post("/v1/quotes", self.asked))
        same = (made.free, made.price, made.told.raw("guarantee"), made.told.raw("errors"))
        if same != (self.free, self.price, self.told.raw("guarantee"), self.told.raw("errors")):
            why = f"the quote is too old, and the price is {made.price} now"
            raise ConflictError("quote", self.price, why, "a new quote")
        return replace(made, idempotency_key=self.idempotency_key)


class RemoteBatch(RemoteQuote):
    """What several questions would cost together, and how far their answers may be off. Made by `RemoteDataset.quote`.

    Args:
        as_for_one: see `RemoteQuote`; `sql` is a list.

    Raises:
        BudgetError, ConflictError, InProgressError, ReleaseError, GatewayError: by `release`, as of `RemoteQuote`.

    Example:
        >>> from dither.client.quote import RemoteBatch, RemoteQuote
        >>> issubclass(RemoteBatch, RemoteQuote)
        True
    """

    @property
    def errors(self) -> list[dict[str, float | None]]:  # type: ignore[override]
        """How far each aggregate of each question may be off because of noise."""
        return self.told.lists_of_numbers("errors")

    def release(  # type: ignore[override]
        self, *, idempotency_key: str | None = None, progress: Progress | None = None, wait: float = WAIT
    ) -> BatchAnswer:
        """Charge the ledger once, then ask all; keywords and errors as of `RemoteQuote.release`."""
        return self._answer(BatchAnswer, idempotency_key, progress, wait)

    def __len__(self) -> int:
        return len(self.sql)

    def __iter__(self) -> Iterator[str]:
        return iter(self.sql)


@dataclass(frozen=True)
class _Release:
    """One release: asked, and looked after until its answer is there or the time is up."""

    session: Session
    key: str
    progress: Progress | None
    end: float

    def answer(self, body: dict[str, Any]) -> Answer | BatchAnswer:
        headers = (("Idempotency-Key", self.key), self._prefer())
        reply, pause = self._send(Request("POST", "/v1/queries", as_json(body), headers=headers, most=LARGE)), FIRST_PAUSE
        while reply.status == 202:
            under_way = Parts(read_json(reply.body, reply.kind, "question"), "question")
            if under_way.text("state") not in ("queued", "running"):
                raise wrong("question.state")
            if self.progress is not None:
                self.progress(0.0)
            if self._left() <= 0:
                why = "its answer is not ready yet, and is computed on"
                raise InProgressError("question", under_way.text("id"), why, ONCE)
            path = f"/v1/queries/{identifier(under_way.text('id'), 'question.id')}"
            start = time.monotonic()
            reply = self._send(Request("GET", path, headers=(self._prefer(),), most=LARGE))
            if reply.status == 202 and time.monotonic() - start < pause:  # it holds no reply back, so we do
                self.session.sleep(pause)
                pause = min(2 * pause, LOOK)
        if self.progress is not None:
            self.progress(1.0)
        return read_answer(reply)

    def _send(self, request: Request) -> Reply:
        return self.session.send(request, wait=self._left())

    def _left(self) -> float:
        return max(self.end - time.monotonic(), 0.0)

    def _prefer(self) -> tuple[str, str]:
        most = LONG_POLL if self.progress is None else LOOK
        return "Prefer", f"wait={int(min(most, self._left()))}"


def read_answer(reply: Reply) -> Answer | BatchAnswer:
    """The answer in a reply that holds one."""
    found = Parts(read_json(reply.body, reply.kind, "answer"), "answer").raw("answer")
    try:
        return any_from_record(found)
    except DitherError:
        raise wrong("answer") from None


def _key(text: str) -> str:
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_KEY or not all("!" <= sign <= "~" for sign in text):
        why = f"it must be 1 to {LONGEST_KEY} visible signs of ASCII, without spaces"
        raise DataError("idempotency_key", text, why, "'report-2024-05'")
    return text


def _shown(told: Parts, name: str, default: str | None = None) -> str:
    return sign_text(told.text(name, default), 10**6)
