"""Rate limits: how often a token may ask, how many of its questions are under way, how many wrong tokens an address may try.

Pure: what they know of time is the clock that they are given. Nothing here counts money, which is in the ledger.

Theorem. In any time T, a token bucket that holds c and gains one each i lets at most c + T/i through. After a pause of c i
it lets c through at once.

    t    when the bucket will be full; now, if it is. A request passes if t <= now + (c - 1) i, and then t grows by i

Proof. Let n pass between the times a and a + T. Before the first t >= a; each adds i to t; after the last t is at most
a + T + (c - 1) i + i. So a + n i <= a + T + c i. After a pause of c i the bucket is full; c requests find t = now, now + i,
and so on to now + (c - 1) i, and all pass. These are whole numbers of nanoseconds, and i is rounded up: no limit is passed.

Memory is bounded: of more than MOST names the one that was idle for longest is forgotten, as if its bucket were full.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from dither.server.core.config import Limits

SECOND = 1_000_000_000
MOST = 10_000  # names that a limit keeps in mind
LONGEST_NAME = 100
Clock = Callable[[], int]  # nanoseconds, which never go back
Kind = Literal["quotes", "queries"]


class TokenBuckets:
    """A bucket for each name: so many at once, and so many a second."""

    def __init__(self, per_second: float | Fraction, at_once: int, clock: Clock) -> None:
        self._clock = clock
        self._interval = -(-SECOND // Fraction(per_second))
        self._spare = (at_once - 1) * self._interval
        self._full_at: OrderedDict[str, int] = OrderedDict()  # by name, the longest idle first
        self._lock = threading.Lock()

    def take(self, name: str) -> float:
        """Let one through: 0; or the seconds after which one would pass, and nothing is taken."""
        with self._lock:
            now = self._clock()
            wait = self._wait(name, now)
            if wait == 0:
                self._full_at[name] = max(now, self._full_at.pop(name, now)) + self._interval
                self._forget(now)
            return wait

    def wait(self, name: str) -> float:
        """The seconds after which one would pass; 0 if one would now. Takes nothing."""
        with self._lock:
            return self._wait(name, self._clock())

    def __len__(self) -> int:
        return len(self._full_at)

    def _wait(self, name: str, now: int) -> float:
        return max(0, self._full_at.get(name, now) - self._spare - now) / SECOND

    def _forget(self, now: int) -> None:
        """Drop names whose buckets are full again, two at a time, so that it takes no time; and those that are too many."""
        for _ in range(2):
            name, full_at = next(iter(self._full_at.items()))
            if full_at <= now or len(self._full_at) > MOST:
                del self._full_at[name]


class Concurrency:
    """How many questions are under way: of each name, and of all."""

    def __init__(self, of_each: int, of_all: int) -> None:
        self._of_each, self._of_all = of_each, of_all
        self._under_way: dict[str, int] = {}
        self._all = 0
        self._lock = threading.Lock()

    def begin(self, name: str) -> Literal["begun", "too many of one", "too many of all"]:
        """Let a question of this name begin, or say which limit it meets; each that began must `end`."""
        with self._lock:
            mine = self._under_way.get(name, 0)
            if mine >= self._of_each:
                return "too many of one"
            if self._all >= self._of_all:
                return "too many of all"
            self._under_way[name] = mine + 1
            self._all += 1
            return "begun"

    def end(self, name: str) -> None:
        """A question of this name is over, however it ended."""
        with self._lock:
            mine = self._under_way[name]  # a question that did not begin cannot end: an error of ours, not a limit
            self._all -= 1
            if mine > 1:
                self._under_way[name] = mine - 1
            else:
                del self._under_way[name]

    def __len__(self) -> int:
        return self._all


class RateLimits:
    """The limits of a gateway, for all of its interfaces together."""

    def __init__(self, limits: Limits, clock: Clock = time.monotonic_ns) -> None:
        self._kinds = {
            "quotes": TokenBuckets(limits.quotes_per_second, _at_once(limits.quotes_per_second), clock),
            "queries": TokenBuckets(limits.queries_per_second, _at_once(limits.queries_per_second), clock),
        }
        wrong = limits.wrong_tokens_per_minute
        self._addresses = TokenBuckets(Fraction(wrong, 60), wrong, clock)
        self.under_way = Concurrency(limits.under_way, limits.queue)

    def take(self, token: str, kind: Kind) -> float:
        """Let a request of a token through: 0; or the seconds after which it may come again."""
        return self._kinds[kind].take(token)

    def locked_out(self, address: str) -> float:
        """The seconds in which no token from this address is looked at, right or wrong; 0 if one may come now."""
        return self._addresses.wait(_network(address))

    def wrong_token(self, address: str) -> None:
        """A token from this address was wrong."""
        self._addresses.take(_network(address))


def _at_once(per_second: float) -> int:
    """What comes in a second may come at once."""
    return max(1, int(per_second))


def _network(address: str) -> str:
    """Whom an address belongs to: one of version 6 has a network of 2^64 of them, which count as one."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:LONGEST_NAME]
    if found.version == 4:
        return str(found)
    mapped = found.ipv4_mapped
    return str(ipaddress.ip_network((found, 64), strict=False)) if mapped is None else str(mapped)
