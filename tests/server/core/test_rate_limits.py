"""Rate limits: every short course of requests, exactly; bounded memory; addresses of one owner."""

from __future__ import annotations

import threading
from fractions import Fraction
from itertools import product

import pytest

from dither.server.core import rate_limits
from dither.server.core.config import Limits
from dither.server.core.rate_limits import SECOND, Concurrency, RateLimits, TokenBuckets
from tests.seeds import examples


class Clock:
    def __init__(self) -> None:
        self.now = 123

    def __call__(self) -> int:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)


@pytest.fixture
def clock():
    return Clock()


def level_after(times: list[Fraction], at: Fraction, rate: Fraction, holds: int) -> Fraction:
    """What a bucket has at a time, by definition: full at first, gains `rate` a second, loses one for each that passed."""
    level, before = Fraction(holds), Fraction(0)
    for passed in [*times, at]:
        level = min(Fraction(holds), level + (passed - before) * rate)
        before = passed
        if passed is not at:
            level -= 1
    return level


@pytest.mark.parametrize(("rate", "holds"), [(1, 1), (1, 3), (2, 2), (Fraction(1, 2), 2), (4, 1)])
def test_every_short_course_is_that_of_a_bucket(rate, holds):
    """Requests with pauses of 0, 1/4, 1/2 and 2 seconds between them, in every order."""
    rate = Fraction(rate)
    for pauses in product((0, Fraction(1, 4), Fraction(1, 2), 2), repeat=examples(5, 8)):
        clock = Clock()
        bucket, start = TokenBuckets(rate, holds, clock), clock.now
        passed: list[Fraction] = []
        for pause in pauses:
            clock.now += int(pause * SECOND)
            now = Fraction(clock.now - start, SECOND)
            level = level_after(passed, now, rate, holds)
            foreseen = bucket.wait("ana")
            wait = bucket.take("ana")
            assert wait == foreseen == float(max(Fraction(0), (1 - level) / rate))
            if wait == 0:
                passed.append(now)
        for first in range(len(passed)):
            for last in range(first, len(passed)):
                assert last - first + 1 <= holds + (passed[last] - passed[first]) * rate


def test_a_wait_is_as_long_as_it_says_and_no_longer(clock):
    bucket = TokenBuckets(3, 1, clock)  # 1/3 s is no whole number of nanoseconds: rounded up
    assert bucket.take("ana") == 0
    wait = bucket.take("ana")
    assert wait == 333_333_334 / SECOND
    clock.now += 333_333_333
    assert bucket.take("ana") == 1 / SECOND
    clock.now += 1
    assert bucket.take("ana") == 0
    assert bucket.take("bob") == 0  # each her own


def test_who_is_refused_does_not_wait_longer_for_it(clock):
    bucket = TokenBuckets(1, 1, clock)
    bucket.take("ana")
    for _ in range(100):
        assert bucket.take("ana") == 1
    clock.move(1)
    assert bucket.take("ana") == 0


def test_memory_is_bounded_and_the_longest_idle_is_forgotten(clock, monkeypatch):
    monkeypatch.setattr(rate_limits, "MOST", 10)
    bucket = TokenBuckets(Fraction(1, 1000), 1, clock)
    for number in range(50):
        assert bucket.take(f"{number}") == 0
        assert len(bucket) <= 10
    assert bucket.take("49") > 0
    assert bucket.take("40") > 0
    assert bucket.take("39") == 0


def test_full_buckets_are_dropped(clock):
    bucket = TokenBuckets(1, 1, clock)
    for number in range(100):
        bucket.take(f"{number}")
    clock.move(2)
    for number in range(100):
        bucket.take(f"new {number}")
    assert len(bucket) <= 100


def test_the_limits_of_a_gateway(clock):
    limits = RateLimits(Limits(quotes_per_second=3, queries_per_second=0.5), clock)
    assert [limits.take("ana", "quotes") > 0 for _ in range(4)] == [False, False, False, True]
    assert [limits.take("ana", "queries") for _ in range(2)] == [0, 2]  # kinds do not share
    assert limits.take("bob", "queries") == 0  # nor do tokens
    clock.move(2)
    assert limits.take("ana", "queries") == 0


def test_wrong_tokens_of_an_address(clock):
    limits = RateLimits(Limits(wrong_tokens_per_minute=5), clock)
    for _ in range(5):
        assert limits.locked_out("10.0.0.1") == 0
        limits.wrong_token("10.0.0.1")
    assert limits.locked_out("10.0.0.1") == 12
    assert limits.locked_out("10.0.0.2") == 0
    clock.move(12)
    assert limits.locked_out("10.0.0.1") == 0
    limits.wrong_token("10.0.0.1")
    assert limits.locked_out("10.0.0.1") == 12


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),  # 2^64 addresses, one owner
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("testclient", "testclient", True),
        ("", "x", False),
        ("a" * 100_000, "a" * 100, True),  # a name that is made up takes no memory
    ],
)
def test_addresses_of_one_owner(clock, one, other, same):
    limits = RateLimits(Limits(wrong_tokens_per_minute=1), clock)
    limits.wrong_token(one)
    assert (limits.locked_out(other) > 0) is same


def test_questions_under_way():
    busy = Concurrency(2, 3)
    assert [busy.begin("ana") for _ in range(3)] == ["begun", "begun", "too many of one"]
    assert [busy.begin("bob") for _ in range(2)] == ["begun", "too many of all"]
    assert len(busy) == 3
    busy.end("ana")
    assert busy.begin("bob") == "begun"
    for name in ("bob", "bob", "ana"):
        busy.end(name)
    assert len(busy) == 0
    assert busy._under_way == {}  # nothing is kept of who has gone
    with pytest.raises(KeyError):
        busy.end("ana")
    assert len(busy) == 0


def test_threads_take_no_more_than_there_is(clock):
    bucket, busy = TokenBuckets(1, 50, clock), Concurrency(20, 1000)
    found: list[tuple[float, str]] = []

    def work() -> None:
        for _ in range(50):
            found.append((bucket.take("ana"), busy.begin("ana")))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(wait == 0 for wait, _ in found) == 50
    assert sum(begun == "begun" for _, begun in found) == 20
