"""Tokens: one path for all that is wrong, revocation at once, expiry by the clock of the database."""

from __future__ import annotations

import hashlib
import hmac
import re
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace

import pytest

from dither import Ledger, pure
from dither.errors import ConflictError, DataError, GuaranteeError, LedgerError
from dither.ledger.storage import sqlite
from dither.server.core import tokens
from dither.server.core.tokens import TokenStore

DAY = 86_400


@pytest.fixture
def store(location):
    made = TokenStore(location)
    yield made
    made.close()


@pytest.fixture
def file_store(tmp_path):
    made = TokenStore(str(tmp_path / "gateway.db"))
    yield made
    made.close()


@pytest.fixture
def clock(monkeypatch):
    """The clock of SQLite's transactions, in seconds since 1970."""
    now = [1_800_000_000]
    monkeypatch.setattr(sqlite, "time", SimpleNamespace(time_ns=lambda: now[0] * 10**9))
    return now


def test_a_token_is_found_by_its_secret_alone(store):
    daily = pure("0.1").to_json()
    made, secret = store.create(name="Ana Čović", role="auditor", datasets=["visits", "clinic", "clinic"], daily=daily)
    assert re.fullmatch(r"dth_[a-z2-7]{12}_[a-z2-7]{52}", secret)
    assert secret.split("_")[1] == made.id
    found = store.find(secret)
    assert found is not None
    assert found.last_day is not None
    assert (found.name, found.role, found.datasets, found.daily) == ("Ana Čović", "auditor", ("clinic", "visits"), daily)
    assert (found.id, found.created, found.expires, found.revoked) == (made.id, made.created, None, None)
    assert store.find(made.id) is None
    other, _ = store.create(name="Ana Čović")
    assert [each.id for each in store.list()] == [made.id, other.id]
    assert (other.role, other.datasets) == ("analyst", ("*",))


def test_the_secret_is_nowhere_in_the_table(file_store):
    _, secret = file_store.create(name="ana")
    file_store.close()
    stored = b"".join(path.read_bytes() for path in file_store.database.path.parent.glob("gateway.db*"))
    assert hashlib.sha256(secret.encode()).hexdigest().encode() in stored
    assert secret[-52:].encode() not in stored


def wrong(secret: str) -> list[str]:
    last = "a" if secret[-1] != "a" else "b"
    return [
        *("", " ", "dth_", "dth__", 70 * "a", "\ud800", "dth_" + 65 * "ü", secret * 1000),
        *(secret[:-1], secret[:-1] + last, secret + "a", secret + "\n", " " + secret, secret.upper(), f"{secret}\0"),
        secret.replace(secret[4:16], 12 * "a"),
        tokens.NOBODY,
        f"dth_{secret[4:16]}_{hashlib.sha256(secret.encode()).hexdigest()[:52]}",
    ]


def test_whatever_is_wrong_is_nothing(store):
    _, secret = store.create(name="ana")
    assert [text for text in wrong(secret) if store.find(text) is not None] == []
    for other in (None, 3, b"dth", [secret]):
        assert store.find(other) is None
    assert store.find(secret) is not None


def test_a_token_of_another_gateway_is_nothing(file_store, tmp_path):
    _, secret = file_store.create(name="ana")
    other = TokenStore(str(tmp_path / "other.db"))
    assert other.find(secret) is None
    other.close()


def steps(store: TokenStore, secret: str, monkeypatch) -> list[str]:
    """What is done for a secret that is refused: reads, writes, hashes, comparisons, with the lengths that are compared."""
    done: list[str] = []
    read, write, same, hashed = store.database.read, store.database.write, hmac.compare_digest, hashlib.sha256

    def compare(one, other):
        done.append(f"compare {len(one)} {len(other)}")
        return same(one, other)

    with monkeypatch.context() as patch:
        patch.setattr(store.database, "read", lambda *queries, **how: (done.append("read"), read(*queries, **how))[1])
        patch.setattr(store.database, "write", lambda *queries: (done.append("write"), write(*queries))[1])
        patch.setattr(tokens.hmac, "compare_digest", compare)
        patch.setattr(tokens.hashlib, "sha256", lambda text: (done.append(f"hash {len(text)}"), hashed(text))[1])
        assert store.find(secret) is None
    return done


def test_one_path_for_all_that_is_refused(file_store, monkeypatch, clock):
    _, secret = file_store.create(name="ana")
    revoked, gone = file_store.create(name="ana")
    file_store.revoke(revoked.id)
    _, old = file_store.create(name="ana", expires=datetime.fromtimestamp(clock[0] + 5, UTC))
    clock[0] += 5
    expected = ["read", "hash 69", "compare 64 64"]
    for text in (*wrong(secret), gone, old):
        assert steps(file_store, text, monkeypatch) == expected, text


def test_a_revoked_token_is_refused_at_once_everywhere(store, location):
    token, secret = store.create(name="ana")
    other = TokenStore(location)  # another gateway on the same database
    assert other.find(secret) == store.find(secret)
    ended = store.revoke(token.id)
    assert ended.revoked is not None
    assert other.find(secret) is None
    assert store.find(secret) is None
    assert other.revoke(token.id) == ended  # since when it was
    assert other.list() == store.list() == [ended]
    other.close()


@pytest.mark.parametrize("id_", ["", "aaaaaaaaaaaa", "' OR '1'='1", "ü", "\0", None, 3])
def test_only_a_token_that_is_there_is_revoked(file_store, id_):
    _, secret = file_store.create(name="ana")
    with pytest.raises(DataError, match="there is no such token"):
        file_store.revoke(id_)
    assert file_store.find(secret) is not None


def test_expiry_is_by_the_clock_of_the_database(file_store, clock):
    token, secret = file_store.create(name="ana", expires=datetime.fromtimestamp(clock[0] + 10, UTC))
    clock[0] += 9
    assert file_store.find(secret) is not None
    clock[0] += 1
    assert file_store.find(secret) is None  # at that very moment
    assert file_store.list()[0].expires == token.expires == datetime.fromtimestamp(clock[0], UTC)


@pytest.mark.full("a PostgreSQL server")
def test_postgres_has_its_own_clock(server, monkeypatch):
    store = TokenStore(f"{server}#token_clock")
    _, secret = store.create(name="ana", expires=datetime.now(UTC) + timedelta(days=300))
    monkeypatch.setattr(sqlite, "time", SimpleNamespace(time_ns=lambda: 10**19))  # what this machine thinks does not matter
    assert store.find(secret) is not None
    with store.database.write() as transaction:
        transaction.do(("UPDATE tokens SET expires = ?", (transaction.now,)))
    assert store.find(secret) is None
    store.close()


def test_the_last_use_is_kept_to_the_day(file_store, clock):
    _, secret = file_store.create(name="ana")
    assert file_store.list()[0].last_day is None
    first = datetime.fromtimestamp(clock[0], UTC).date()
    assert file_store.find(secret).last_day == file_store.list()[0].last_day == first
    clock[0] += 2 * DAY
    file_store.find(secret)
    assert file_store.list()[0].last_day == first + timedelta(days=2)
    clock[0] -= 2 * DAY  # a clock that was set back
    file_store.find(secret)
    assert file_store.list()[0].last_day == first + timedelta(days=2)
    assert isinstance(first, date)


def test_a_second_use_on_a_day_writes_nothing(file_store, monkeypatch, clock):
    _, secret = file_store.create(name="ana")
    assert file_store.find(secret) is not None
    monkeypatch.setattr(file_store.database, "write", lambda *_: pytest.fail("it writes"))
    assert file_store.find(secret) is not None


REFUSED = [
    {"name": ""},
    {"name": "a\nb"},
    {"name": 201 * "a"},
    {"name": None},
    {"role": "king"},
    {"role": ["owner"]},
    {"datasets": "clinic"},
    {"datasets": []},
    {"datasets": [""]},
    {"datasets": [3]},
    {"expires": datetime(2100, 1, 1)},
    {"expires": datetime(2001, 1, 1, tzinfo=UTC)},
    {"expires": "tomorrow"},
]


@pytest.mark.parametrize("wrong", REFUSED, ids=repr)
def test_what_no_token_can_be_is_refused(file_store, wrong):
    with pytest.raises(DataError):
        file_store.create(**{"name": "ana", **wrong})
    assert file_store.list() == []


def test_a_portion_is_a_guarantee(file_store):
    with pytest.raises(GuaranteeError):
        file_store.create(name="ana", daily="0.1")
    assert file_store.list() == []


def test_a_ledger_is_not_a_place_for_tokens(location):
    Ledger.create(location, budget=pure(1), domain="clinic").close()
    with pytest.raises(ConflictError, match="there is a ledger"):
        TokenStore(location)


def test_a_database_of_something_else_is_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as link, link:
        link.execute("CREATE TABLE tokens (id)")
    link.close()
    with pytest.raises(ConflictError, match="something else"):
        TokenStore(str(tmp_path / "other.db"))
    with pytest.raises(LedgerError):
        TokenStore(str(tmp_path / "no folder" / "gateway.db"))


def test_secrets_do_not_repeat_and_use_all_their_letters(file_store):
    made = [file_store.create(name="ana")[1] for _ in range(20)]
    assert len({secret[:16] for secret in made}) == len({secret[17:] for secret in made}) == 20
    assert len(tokens._letters(60)) == 12
    assert len(tokens._letters(256)) == 52
    seen = {letter for secret in made for letter in secret[17:]}
    assert len(seen) == 32  # P(one of 32 letters is missing in 1020 that are uniform) < 32 (31/32)^1020 < 1e-12
