"""A client by docs/wire-format.md alone, in plain Python: it reads a table and imports nothing of dither.

Random numbers come from an object with `below(m)`, `coin(n, d)` and `pick(weights)`: bytes, or all outcomes one by one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from typing import Any

PARTS = 2**120
WORD = 2**64 - 1


class Bytes:
    """Draws from given bytes, in their order."""

    def __init__(self, data: bytes) -> None:
        self.data, self.taken = data, 0

    def take(self, count: int) -> bytes:
        part = self.data[self.taken : self.taken + count]
        assert len(part) == count, "more random bytes are needed"
        self.taken += count
        return part

    def below(self, m: int) -> int:
        bits = (m - 1).bit_length()
        size = -(-bits // 8)
        while True:
            drawn = int.from_bytes(self.take(size), "big") >> (8 * size - bits)
            if drawn < m:
                return drawn

    def coin(self, n: int, d: int) -> bool:
        return self.below(d) < n

    def pick(self, weights: list[int]) -> int:
        left = self.below(sum(weights))
        at = 0
        while left >= weights[at]:
            left -= weights[at]
            at += 1
        return at


class Script:
    """Draws that were chosen beforehand; the first one beyond them lists its outcomes."""

    class NextDraw(Exception):  # noqa: N818 - it is no error
        pass

    def __init__(self, chosen: list[Any]) -> None:
        self.chosen, self.at = chosen, 0

    def _draw(self, outcomes: Callable[[], list[tuple[Any, Fraction]]]) -> Any:
        if self.at == len(self.chosen):
            raise Script.NextDraw(outcomes())
        self.at += 1
        return self.chosen[self.at - 1]

    def below(self, m: int) -> int:
        return self._draw(lambda: [(k, Fraction(1, m)) for k in range(m)])  # type: ignore[no-any-return]

    def coin(self, n: int, d: int) -> bool:
        return self._draw(lambda: [(True, Fraction(n, d)), (False, 1 - Fraction(n, d))])  # type: ignore[no-any-return]

    def pick(self, weights: list[int]) -> int:
        whole = sum(weights)
        return self._draw(lambda: [(k, Fraction(w, whole)) for k, w in enumerate(weights)])  # type: ignore[no-any-return]


def law(draw: Callable[[Any], Hashable]) -> dict[Any, Fraction]:
    """The exact law of what `draw(random)` gives, by all outcomes of every draw."""
    found: dict[Any, Fraction] = {}

    def follow(chosen: list[Any], chance: Fraction) -> None:
        try:
            result = draw(Script(chosen))
        except Script.NextDraw as step:
            for outcome, share in step.args[0]:
                if share:
                    follow([*chosen, outcome], chance * share)
        else:
            found[result] = found.get(result, Fraction(0)) + chance

    follow([], Fraction(1))
    return found


class Client:
    """A person's client of one survey, from its table."""

    def __init__(self, table: str) -> None:
        self.table: dict[str, Any] = json.loads(table)
        assert self.table["dither_client_table"] in (1, 2)
        self.record: dict[str, Any] = json.loads(self.table["record"], parse_int=as_double)
        self.domain = [exact(value) for value in self.table.get("domain", self.record.get("domain", []))]
        self.memo: dict[int, int] = {}

    def __getitem__(self, name: str) -> Any:
        return self.table[name]

    def message(self, reports: list[bytes], ids: list[bytes] | None = None) -> bytes:
        record = self["record"].encode()
        head = b"dither\0" + bytes([1 if ids is None else 2]) + len(record).to_bytes(4, "little") + record
        return head + b"".join(reports if ids is None else [i + r for i, r in zip(ids, reports, strict=True)])

    def report(self, value: Any, random: Any) -> bytes:
        return getattr(self, "_" + self["kind"].replace(" ", "_"))(value, random)  # type: ignore[no-any-return]

    # -- steps ---------------------------------------------------------------------------------------------------

    def _place(self, value: Any) -> int:
        return self.domain.index(value)

    def _coin(self, name: str, random: Any) -> bool:
        n, d = self[name]
        return random.coin(int(n), int(d))  # type: ignore[no-any-return]

    def _flat(self, count: int, place: int, name: str, random: Any) -> int:
        truth, other = self._coin(name, random), random.below(count - 1)
        return place if truth else (place + 1 + other) % count

    def _number(self, value: int) -> bytes:
        return value.to_bytes(self["size"], "little")

    def _bits(self, places: list[int]) -> bytes:
        return sum(1 << place for place in places).to_bytes(self["size"], "little")

    def _round(self, value: float, random: Any) -> int:
        low, high = (Fraction(int(n), int(d)) for n, d in (self["low"], self["high"]))
        if math.isinf(value):
            inside = high if value > 0 else low
        else:
            inside = max(low, min(high, Fraction(0 if math.isnan(value) else value)))
        scaled = math.floor((inside - low) / (high - low) * self["steps"] * PARTS)
        up = random.coin(scaled % PARTS, PARTS)
        return scaled // PARTS + up

    # -- surveys -------------------------------------------------------------------------------------------------

    def _coin_flip(self, value: Any, random: Any) -> bytes:
        yes, no = self._coin("yes", random), self._coin("no", random)
        return bytes([yes if value else no])

    def _direct(self, value: Any, random: Any) -> bytes:
        return self._number(self._flat(self["values"], self._place(value), "truth", random))

    def _longitudinal(self, value: Any, random: Any) -> bytes:
        place = self._place(value)
        if place not in self.memo:
            self.memo[place] = self._flat(self["values"], place, "permanent", random)
        return self._number(self._flat(self["values"], self.memo[place], "fresh", random))

    def _unary(self, value: Any, random: Any) -> bytes:
        bits = [self._coin("other", random) for _ in range(self["values"])]
        bits[self._place(value)] = self._coin("own", random)
        return self._bits([place for place, bit in enumerate(bits) if bit])

    def _subset(self, value: Any, random: Any) -> bytes:
        own, place, count = self._coin("own", random), self._place(value), self["chosen"]
        others = [other for other in range(self["values"]) if other != place]
        for at in range(count):
            swap = at + random.below(len(others) - at)
            others[at], others[swap] = others[swap], others[at]
        return self._bits([*others[: count - 1], place] if own else others[:count])

    def _hadamard(self, value: Any, random: Any) -> bytes:
        y, truth, x = random.below(self["numbers"]), self._coin("truth", random), self._place(value) + 1
        if ((x & y).bit_count() % 2 == 1) == truth:
            y ^= x & -x
        return self._number(y)

    def _hashing(self, value: Any, random: Any) -> bytes:
        seed, cells = random.below(self["seeds"]), self["cells"]
        return self._number(seed * cells + self._flat(cells, self.cell(seed, self._place(value)), "truth", random))

    def cell(self, seed: int, place: int) -> int:
        how, g = self["hash"], self["cells"]
        if how["family"] == "mixed":
            word = mix((seed // 4) * 0x9E3779B97F4A7C15 + place * 0xD1B54A32D192ED03)
            return (word >> 16 * (seed % 4) & 0xFFFF) * g >> 16
        p, total = how["prime"], 0
        for _ in range(how["digits"]):
            total = add(total, multiply(seed % g, place % g, how), p)
            seed, place = seed // g, place // g
        return total

    def _heavy_hitters(self, value: Any, random: Any) -> bytes:
        group, seed = random.below(self["groups"]), random.below(self["seeds"])
        key = 0
        for byte in self.item(value)[: min(group, self["length"] - 1) + 1]:
            key = mix(key + byte + 1)
        place = group * self["seeds"] + seed
        high = (key * (mix(place) | 1) + mix(place ^ 2**63) & WORD) >> 32
        cell = self._flat(self["cells"], high * self["cells"] >> 32, "truth", random)
        return self._number(place * self["cells"] + cell)

    def item(self, value: Any) -> bytes:
        length = self["length"]
        if "bits" in self.table:
            return value.to_bytes(length, "big")  # type: ignore[no-any-return]
        data = b""
        for letter in value:
            more = b"?" if 0xD800 <= ord(letter) < 0xE000 else letter.encode()
            if letter != "\0":
                if len(data) + len(more) > length:
                    break
                data += more
        return data.ljust(length, b"\0")

    def _grid(self, value: Any, random: Any) -> bytes:
        column, row = value
        width, height = self["width"], self["height"]
        if self["scores"] == "uniform":
            return self._number(self._flat(width * height, column * height + row, "truth", random))
        weights = [int(w) for w in self["weights"]]
        column, row = (
            random.pick([weights[abs(place - c)] for c in range(n)]) for place, n in ((column, width), (row, height))
        )
        return self._number(column * height + row)

    def _duchi(self, value: Any, random: Any) -> bytes:
        return self._number(self._flat(2, self._round(value, random), "truth", random))

    def _window(self, place: int, random: Any) -> int:
        near, inside, outside = self._coin("near", random), random.below(self["window"]), random.below(self["steps"])
        if near:
            return place + inside  # type: ignore[no-any-return]
        return outside if outside < place else outside + self["window"]  # type: ignore[no-any-return]

    def _piecewise(self, value: Any, random: Any) -> bytes:
        return self._number(self._window(self._round(value, random), random))

    def _hybrid(self, value: Any, random: Any) -> bytes:
        if "duchi" not in self.table:
            return self._duchi(value, random)
        place, one = self._round(value, random), self._coin("duchi", random)
        up = random.below(self["steps"]) < place
        bit, near = self._flat(2, int(up), "truth", random), self._window(place, random)
        return self._number(self["reports"] + bit if one else near)

    def _noisy_number(self, value: Any, random: Any) -> bytes:
        place, steps, weights = self._round(value, random), self["steps"], [int(w) for w in self["weights"]]
        inside = [weights[abs(place - o)] for o in range(1, steps)]
        return self._number(random.pick([sum(weights[place:]), *inside, sum(weights[steps - place :])]))


def as_double(digits: str) -> int:
    """A whole number as most parsers of JSON read it: the nearest double."""
    return int(float(digits))


def exact(value: Any) -> Any:
    """A value as a table spells it."""
    if isinstance(value, list):
        return [exact(each) for each in value]
    return int(value["integer"]) if isinstance(value, dict) else value


def mix(word: int) -> int:
    word = (word + 0x9E3779B97F4A7C15) & WORD
    word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ word >> 27) * 0x94D049BB133111EB) & WORD
    return word ^ word >> 31


def digits(value: int, p: int) -> Iterator[int]:
    while value:
        yield value % p
        value //= p


def add(a: int, b: int, p: int) -> int:
    total, weight = 0, 1
    while a or b:
        total += (a % p + b % p) % p * weight
        a, b, weight = a // p, b // p, weight * p
    return total


def multiply(a: int, b: int, how: dict[str, Any]) -> int:
    p, degree = how["prime"], how["degree"]
    if degree == 1:
        return a * b % p
    top, total = p ** (degree - 1), 0
    for digit in reversed(list(digits(b, p))):  # total * x + digit * a
        high, total = total // top, total % top * p
        for _ in range(high):
            total = add(total, how["reduction"], p)
        for _ in range(digit):
            total = add(total, a, p)
    return total
