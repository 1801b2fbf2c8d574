"""R2T's queries at its epsilon: errors beside its published ones, the cap of a person declared, or found privately."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import dither
from benchmarks.report import table
from benchmarks.tpch.draws import SEED, draw, law
from benchmarks.tpch.queries import EPSILON, QUERIES, Query, protected
from benchmarks.tpch.tables import views
from dither.query.quote import Quote


def declared(query: Query, folder: Path, own: Path) -> Quote:
    """The cap of a person is what its owner declared, as hard."""
    return protected(query.owner, folder, own, dither.pure(100)).quote(query.sql, epsilon=EPSILON)


def private(query: Query, folder: Path, own: Path) -> Quote:
    """The cap of a person is found privately: nothing is declared of her rows, up to a million, or of her sums."""
    facts = {name: fact for name, fact in query.owner.facts.items() if not name.startswith("max_")}
    facts["hard"] = [limit for limit in facts["hard"] if not limit.startswith("max_")]
    owner = replace(query.owner, facts={**facts, "limits": "auto"})
    return protected(owner, folder, own, dither.pure(100)).quote(query.sql, epsilon=EPSILON)


class Cap(NamedTuple):
    """A way to find the cap of a person."""

    quoted: Callable[[Query, Path, Path], Quote]
    wanted: float  # how many times smaller than R2T's its error is to be
    by_law: bool  # whether noise is all that it adds, so that the law of the noise is that of the error


CAPS = {"declared as hard": Cap(declared, 20, True), "found privately": Cap(private, 10, False)}


def truth_of(query: Query, folder: Path) -> int:
    """The true total, by the plain query."""
    with views(folder) as engine:
        (found,) = engine.execute(query.plain).fetchall()
    return int(found[0])


def main(folder: Path, own: Path, *, draws: int, whole: bool, queries: Sequence[Query] = QUERIES) -> None:
    """Two tables a cap; at scale 1 (`whole`) the truth must be R2T's, and errors are judged."""
    for name, cap in CAPS.items():
        first, second = [], []
        for number, query in enumerate(queries):
            truth, quote = truth_of(query, folder), cap.quoted(query, folder, own)
            if whole and truth != query.truth:
                raise ValueError(f"{query.name}: {truth:,} where R2T has {query.truth:,}: the tables are not its own")
            found, (trimmed, mean) = draw(quote, draws, SEED + number), law(quote) if cap.by_law else (None, None)
            errors, head = found.errors(0, truth), f"{query.name}, {query.told}"
            ratios = [query.published / one for one in (errors.trimmed, trimmed) if one is not None]
            missing = [truth - one[0] for one in found.counted]
            facts = [f"{truth:,}", f"{sum(missing) / len(missing):,.0f}", f"{query.published:,.0f}"]
            judged = verdict(ratios, cap.wanted) if whole else "not judged"
            told = [_told(errors.trimmed), _told(trimmed), " / ".join(f"{ratio:.1f}x" for ratio in ratios)]
            first.append([head, *facts, *told, judged])
            ((_, statistic, place),) = quote.offer.columns
            told = [statistic.statement(place).value, _told(errors.mean), _told(mean), _told(errors.worst)]
            caps = ", ".join(f"{cap} ({times})" for cap, times in found.found.most_common(2))
            second.append([head, *told, f"{errors.held:.1%}", f"{errors.mean / truth:.5%}", *([caps] if caps else [])])
        price = f"ε = {EPSILON}, pure, add/remove one person, {draws:,} draws, seeds from {SEED}"
        columns = ["query", "truth", "left out", "R2T", "trimmed", "by law", "smaller by", f"at least {cap.wanted:g}x"]
        table(f"Cap {name}: mean absolute error, trimmed; {price}", columns, first)
        columns = ["query", "says", "mean", "by law", f"worst of {draws:,}", "held", "mean / truth"]
        columns += [] if cap.by_law else ["limits (times)"]
        table("The same, untrimmed", columns, second)


def verdict(ratios: list[float], wanted: float) -> str:
    """Whether the draws reach it, and whether their law does."""
    reached = [ratio >= wanted for ratio in ratios]
    if len(set(reached)) == 1:
        return "reached" if reached[0] else "MISSED"
    return "MISSED, reached by law" if reached[1] else "reached, MISSED by law"


def _told(error: float | None) -> str:
    return "" if error is None else f"{error:,.1f}"
