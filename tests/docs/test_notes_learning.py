"""The page on learning: each claim on small domains, exactly; the two theorems for every neighbour; and what must fail."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from dither import Exponential, Flat, Geometric, Unit, ln, pure, sensitivity
from dither.channels import graph
from dither.errors import BrokenPromise
from dither.testing import check_mechanism
from tests.docs.note_page import ROOT, check_page
from tests.seeds import examples

PAGE = ROOT / "docs" / "notes" / "learning.md"
REPLACE = Unit.REPLACE_ONE
Law = dict[tuple[str, ...], list[Fraction]]  # of the outputs, for each data set


# -- the page itself -------------------------------------------------------------------------------------------------------


def test_the_page_agrees_with_itself():
    assert check_page(PAGE.read_text(), Path(__file__).read_text()) == 11


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("7 hold, 2 hold under", "8 hold, 1 hold under"),
        ("**7. Corrected.**", "**7. Holds.**"),
        ("`test_rows_that_are_needed`", "`test_rows_that_are_enough`"),
    ],
)
def test_what_is_planted_in_the_page_is_found(right, planted):
    text = PAGE.read_text()
    assert right in text
    with pytest.raises(AssertionError):
        check_page(text.replace(right, planted), Path(__file__).read_text())


# -- worst case and average ------------------------------------------------------------------------------------------------


def heads_or_tails() -> Exponential:
    return Exponential(epsilon=ln(4), sensitivity=1, candidates=2, integers=True, unit=REPLACE)


def test_the_promise_has_no_law_in_it():
    """The promise is kept for all neighbours; how often the learner is right changes with the law of the rows."""
    learner = heads_or_tails()
    for n in (1, 2, 7):
        scores = [(heads, n - heads) for heads in range(n + 1)]
        channel = learner.channel(scores)
        assert 0 < channel.epsilon(graph.path(scores)).epsilon <= math.log(4)
        right = []
        for p in (Fraction(1, 2), Fraction(11, 20), Fraction(3, 4)):
            chances = [math.comb(n, h) * p**h * (1 - p) ** (n - h) for h in range(n + 1)]
            right.append(sum(chance * channel.row(score)[0] for chance, score in zip(chances, scores, strict=True)))
        assert right[0] == Fraction(1, 2) < right[1] < right[2]


def test_noise_for_usual_rows_fails_the_unusual():
    with pytest.raises(BrokenPromise):
        check_mechanism(Geometric(epsilon=1, sensitivity=2), query=sum, universe=[0, 1, 9], rows=2)
    check_mechanism(Geometric(epsilon=1, sensitivity=2), query=sum, universe=[0, 1, 2], rows=2)


def test_rows_that_are_no_numbers():
    def read(row: float) -> int:
        return 1 if math.isnan(row) else int(max(0, min(2, row)))

    hostile = [0, 9, math.inf, -math.inf, math.nan]
    for unit in (Unit.ADD_REMOVE, REPLACE):
        noise = Geometric(epsilon=1, sensitivity=2, unit=unit)
        assert check_mechanism(noise, query=lambda rows: sum(map(read, rows)), universe=hostile, rows=2).epsilon <= 1
    with pytest.raises(BrokenPromise):  # what is no number counts for three: outside the bounds
        check_mechanism(
            Geometric(epsilon=1, sensitivity=2),
            query=lambda rows: sum(3 if math.isnan(row) else read(row) for row in rows),
            universe=hostile,
            rows=2,
        )


def test_a_person_with_many_rows():
    assert pure("0.1").group(30).epsilon() == 3
    assert pure(1, unit=Unit.ADD_REMOVE).to(REPLACE).epsilon() == 2


# -- how many rows ---------------------------------------------------------------------------------------------------------


def test_the_error_as_a_utility_prefers_the_worst():
    right = [9, 5, 0]  # of nine rows
    channel = Exponential(epsilon=ln(4), sensitivity=1, candidates=3, integers=True, unit=REPLACE)
    for score, best in ((right, 0), ([9 - one for one in right], 2)):
        [row] = channel.channel([tuple(score)]).rows
        assert row.index(max(row)) == best


def test_both_parts_of_the_bound_on_the_risk():
    """Falling short by s rows: at most m e^(-epsilon s/2), for every score. And Hoeffding's inequality, summed up."""
    mechanism = Exponential(epsilon=ln(4), sensitivity=1, candidates=3, integers=True, unit=REPLACE)
    logarithm = False
    for scores in product(range(7), repeat=3):
        [row] = mechanism.channel([scores]).rows
        for s in range(1, 8):
            short = sum(p for p, score in zip(row, scores, strict=True) if score <= max(scores) - s)
            assert short <= 3 * Fraction(1, 2) ** s  # e^(epsilon/2) = 2
            logarithm = logarithm or short > Fraction(1, 2) ** s
    assert logarithm  # planted: without the number of rules it is false
    for n, p in product((1, 10, 60), (0.05, 0.3, 0.5)):
        chances = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        for t in (0.05, 0.1, 0.3):
            far = sum(chance for k, chance in enumerate(chances) if abs(k / n - p) > t)
            assert far <= 2 * math.exp(-2 * n * t * t) * (1 + 1e-9)


def hamming(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def some_law(rng: random.Random, values: str, rows: int, outputs: int) -> Law:
    weights = {data: [rng.randrange(1, 12) for _ in range(outputs)] for data in product(values, repeat=rows)}
    return {data: [Fraction(w, sum(row)) for w in row] for data, row in weights.items()}


def factor(law: Law) -> Fraction:
    """e^epsilon: the largest ratio over all neighbours and outputs."""
    pairs = [(one, other) for one, other in product(law, repeat=2) if hamming(one, other) == 1]
    return max(p / q for one, other in pairs for p, q in zip(law[one], law[other], strict=True))


def test_rows_that_are_needed():
    rng = random.Random(8)
    for _ in range(examples(10, 200)):
        for values, rows in (("abc", 1), ("ab", 3), ("abc", 2)):
            law = some_law(rng, values, rows, len(values))
            found = min(
                law[(value,) * rows][at] for at, value in enumerate(values)
            )  # rule `at` is right where all rows agree
            most = factor(law) ** rows
            assert found <= most / (most + len(values) - 1)
    for m, base in product((2, 3, 6), (2, 4)):  # attained by one row
        flat = Flat(range(m), epsilon=ln(base)).channel()
        assert min(flat.rows[at][at] for at in range(m)) == Fraction(base, base + m - 1)
    # planted: with one step in place of n the bound is false
    twice = [
        [Fraction(9, 10), Fraction(1, 10)],
        [Fraction(1, 2)] * 2,
        [Fraction(1, 2)] * 2,
        [Fraction(1, 10), Fraction(9, 10)],
    ]
    law = dict(zip(product("ab", repeat=2), twice, strict=True))
    assert factor(law) == 5
    assert Fraction(5, 6) < Fraction(9, 10) <= Fraction(25, 26)


# -- overfitting -----------------------------------------------------------------------------------------------------------


def excess(law: Law, chances: dict[str, Fraction]) -> Fraction:
    """The most by which a function of each output exceeds, on average, on the rows what it has on the law of a row."""
    rows, total = len(next(iter(law))), Fraction(0)
    for output in range(len(next(iter(law.values())))):
        seen = dict.fromkeys(chances, Fraction(0))  # how much of each value is among the rows, with this output
        whole = Fraction(0)
        for data, row in law.items():
            weight = math.prod((chances[value] for value in data), start=Fraction(1)) * row[output]
            whole += weight
            for value in data:
                seen[value] += weight / rows
        total += sum((max(seen[value] - whole * chances[value], Fraction(0)) for value in chances), start=Fraction(0))
    return total


def bounded(gap: Fraction, most: Fraction) -> bool:
    """gap <= tanh(epsilon/4) = (sqrt(E) - 1)/(sqrt(E) + 1), squared so that it is exact."""
    return (1 + gap) ** 2 <= most * (1 - gap) ** 2


def test_a_private_choice_overfits_by_little():
    rng, sharp = random.Random(9), False
    for _ in range(examples(10, 200)):
        for values, rows in (("ab", 1), ("abc", 1), ("ab", 3), ("abc", 2)):
            law = some_law(rng, values, rows, 3)
            weights = {value: Fraction(rng.randrange(1, 5)) for value in values}
            chances = {value: weight / sum(weights.values()) for value, weight in weights.items()}
            gap, most = excess(law, chances), factor(law)
            assert gap > 0
            assert bounded(gap, most)
    for m, base in ((3, 4), (4, 9)):  # attained where 1/(1 + sqrt(E)) is one value of m
        flat = Flat(range(m), epsilon=ln(base)).channel()
        law = {(str(at),): list(flat.rows[at]) for at in range(m)}
        gap = excess(law, {str(at): Fraction(1, m) for at in range(m)})
        assert gap == Fraction(math.isqrt(base) - 1, math.isqrt(base) + 1)
        assert bounded(gap, Fraction(base))
        sharp = sharp or not bounded(gap + Fraction(1, 10**9), Fraction(base))
    assert sharp
    told = {(value,): [Fraction(value == other) for other in "ab"] for value in "ab"}  # planted: the rows themselves
    assert excess(told, {"a": Fraction(1, 2), "b": Fraction(1, 2)}) == Fraction(1, 2)
    assert not bounded(Fraction(1, 2), Fraction(4))


# -- blocks ----------------------------------------------------------------------------------------------------------------


def cut(vector: tuple[int, int]) -> tuple[float, ...]:
    return tuple(x * min(1, 5 / (math.hypot(*vector) or 5)) for x in vector)


def test_gradients_are_cut_before_they_are_added_up():
    gradients = [(0, 0), (3, 4), (-6, -8), (0, 5)]
    for unit, most in ((Unit.ADD_REMOVE, 5), (REPLACE, 10)):
        each = sensitivity.of(
            lambda rows: [sum(cut(row)[axis] for row in rows) for axis in (0, 1)], universe=gradients, rows=2, unit=unit
        )
        assert each.l2 == most
    late = sensitivity.of(
        lambda rows: cut((sum(row[0] for row in rows), sum(row[1] for row in rows))),
        universe=gradients,
        rows=2,
        unit=Unit.ADD_REMOVE,
    )
    assert late.l2 == 10


def test_noise_below_sampling_error():
    """2/(n epsilon)^2 <= 1/(4n), from n = 8/epsilon^2 on and not before."""
    for epsilon in (Fraction(1), Fraction(1, 10), Fraction(3)):
        first = math.ceil(8 / epsilon**2)
        assert 2 / (first * epsilon) ** 2 <= Fraction(1, 4 * first)
        assert first == 1 or 2 / ((first - 1) * epsilon) ** 2 > Fraction(1, 4 * (first - 1))
