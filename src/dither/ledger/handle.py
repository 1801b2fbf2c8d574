"""The handle of an open ledger: transactions on its end, to write and to read, and the latest head that anybody saw.

Why an old copy is noticed. Before a transaction begins, the latest known head is looked up: that of this process, and that
of the second place. The page must hold it. After a transaction, and before anything is handed out, the second place gets
the new head.

Whose key. To write, the keys are looked up under the write lock, under which alone they change. To read, they are looked up
before the snapshot is taken, and again where it was signed with another: then the key was rotated in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from dither.errors import ConflictError, LedgerError, TamperError
from dither.ledger.entries.entry import Head
from dither.ledger.entries.transaction import LedgerTransaction, Recent, opening, rolled_back
from dither.ledger.storage.database import Database, Statement
from dither.ledger.storage.signing_keys import KeyFile, SigningKeys
from dither.ledger.witness import Witness


class LedgerHandle:
    """One ledger, in its database, with its second place and its keys."""

    def __init__(self, database: Database, witness: Witness | None, file: KeyFile, home: int) -> None:
        self.database, self.witness, self.file = database, witness, file
        self._head: Head | None = None  # the latest that this object has seen
        self._home = home  # the entry that said where the ledger is when its place was checked: a later one is a move
        self._recent: Recent | None = None

    @property
    def key(self) -> bytes | None:
        """The key that signs the next entry; None where it is not here."""
        keys = self.file.read()
        return None if keys is None else keys.current.secret

    def open(self) -> None:
        """Take note of its head."""
        with self.reading() as page:
            head, keys = page.last.head, page.keys
        self.publish(head, keys)

    @contextmanager
    def page(self, *queries: Statement) -> Iterator[LedgerTransaction]:
        """A transaction on the end of the ledger. It is durable, and the second place knows, when this ends."""
        known = self._known()
        with self.database.write(*opening(*queries)) as transaction:
            page = LedgerTransaction(transaction, self.file.read(), known, queries, self._recent)
            self._must_not_have_moved(page)
            yield page
        try:
            self.publish(page.last.head, page.keys)
        except LedgerError as error:
            if isinstance(error, TamperError):
                raise
            why = f"it was written, but the second place has not confirmed it: {error.why}"
            raise LedgerError(error.where, error.came, why, error.instead) from error
        self._recent = page.recent

    @contextmanager
    def reading(self) -> Iterator[LedgerTransaction]:
        """A snapshot of the end of the ledger."""
        known = self._known()
        with ExitStack() as opened:
            page = self._snapshot(opened, known)
            self._must_not_have_moved(page)
            yield page

    def publish(self, head: Head, keys: SigningKeys | None) -> None:
        """Let the second place know of a head, before anything that it covers is shown; `keys` are those of its page."""
        if self.witness is not None and keys is not None:
            known = self.witness.advance(head, keys)
            if known.entries == head.entries and known.hash != head.hash:
                raise rolled_back(known, head.entries)
            if known.entries > head.entries:  # others went ahead; then the ledger holds what they wrote
                with ExitStack() as opened:
                    self._snapshot(opened, known)
        if self._head is None or head > self._head:
            self._head = head

    def close(self) -> None:
        """Close the connections to the databases."""
        self.database.close()
        if self.witness is not None:
            self.witness.database.close()

    def _snapshot(self, opened: ExitStack, known: Head | None) -> LedgerTransaction:
        """A page to read, until what is opened for it is closed."""
        while True:
            keys = self.file.read()
            with ExitStack() as attempt:
                transaction = attempt.enter_context(self.database.read(*opening()))
                try:
                    page = LedgerTransaction(transaction, keys, known)
                except LedgerError:
                    if self.file.read() == keys:
                        raise
                    continue
                opened.push(attempt.pop_all())
                return page

    def _must_not_have_moved(self, page: LedgerTransaction) -> None:
        """The owner has said `moved=True` elsewhere: this object may be writing to the wrong second place."""
        if self._home != page.state.home:
            where = self.database.shown
            raise ConflictError("ledger", where, "it was moved since it was opened here", "opening it again")

    def _known(self) -> Head | None:
        """The latest head that anybody saw: looked up before a transaction begins, so what that finds cannot lack it."""
        mine = self._head
        if self.witness is None:
            return mine
        seen = self.witness.head()
        if seen is None and mine is not None:
            why = "it has forgotten this ledger"
            raise TamperError("witness", self.witness.database.shown, why, "the second place as it was")
        return max((head for head in (mine, seen) if head is not None), default=None)
