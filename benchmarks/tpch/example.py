"""The example of PAC: prices of lines by flag and status, the customer protected, beside the answers that it publishes.

The README of PAC (cwida/privacy) shows the answers of two runs of its own, which promise no differential privacy, and of one
run of its `dp_elastic` at (1, 1e-6), all at scale 1, beside the truth. One run is one draw, and no mean.
"""

from __future__ import annotations

from pathlib import Path

import dither
from benchmarks.report import console, table
from benchmarks.tpch.draws import SEED, draw, law
from benchmarks.tpch.queries import LINES_OF_CUSTOMER, OF_CUSTOMERS, protected
from benchmarks.tpch.tables import views
from dither.query.groups.group_choice import GroupKeys

GROUPED = "SELECT l_returnflag, l_linestatus, SUM(l_extendedprice) AS n FROM lineitem GROUP BY l_returnflag, l_linestatus"
PLAIN = GROUPED.replace("FROM lineitem", OF_CUSTOMERS)
PUBLISHED: dict[GroupKeys, tuple[float, ...]] = {  # the truth, two runs of PAC, a run of dp_elastic
    ("A", "F"): (56_586_554_400.73, 57_278_925_373.44, 58_988_885_442.56, 56_589_946_031.64),
    ("N", "F"): (1_487_504_710.38, 1_515_625_185.28, 1_613_206_650.88, 1_534_396_959.73),
    ("N", "O"): (114_935_210_409.19, 116_295_729_152.00, 119_904_634_142.72, 114_528_541_709.94),
    ("R", "F"): (56_568_041_380.90, 57_318_996_705.28, 58_803_811_778.56, 56_505_612_137.93),
}
BUDGETS = {"ε = 1": dither.pure(100), "ε = 1, δ = 1e-6": dither.approx(100, "1e-6")}


def truths(folder: Path, *, whole: bool) -> dict[GroupKeys, float]:
    """The true total of each group that there is; at scale 1 those that are published."""
    with views(folder) as engine:
        found: dict[GroupKeys, float] = {
            (flag, status): float(total) for flag, status, total in engine.execute(PLAIN).fetchall()
        }
    if whole and found != {cell: truth for cell, (truth, *_) in PUBLISHED.items()}:
        raise ValueError(f"{found}: the tables are not those of the published answers")
    return found


def main(folder: Path, own: Path, *, draws: int, whole: bool) -> None:
    """A table a budget, a row a group; percents of its truth, of which a group without rows has none."""
    known = truths(folder, whole=whole)
    for number, (name, budget) in enumerate(BUDGETS.items()):
        quote = protected(LINES_OF_CUSTOMER, folder, own, budget).quote(GROUPED, epsilon=1)
        found, (_, mean) = draw(quote, draws, SEED + 100 + number), law(quote)
        lines, worst = [], 0.0
        for at, cell in enumerate(quote.offer.chosen(None).shown):
            truth = known.get(cell, 0.0)
            errors = found.errors(at, truth)
            part = [_percent(one, truth) for one in (errors.mean, mean, errors.worst)]
            left_out = f"{truth - found.counted[0][at]:.2f}"
            lines.append(
                [" ".join(map(str, cell)), f"{truth:,.2f}", left_out, *_published(cell), *part, f"{errors.held:.1%}"]
            )
            worst = max(worst, errors.worst)
        columns = ["group", "truth", "left out", "PAC", "PAC", "dp_elastic", "mean", "by law", "worst", "held"]
        title = f"SUM(l_extendedprice) by flag and status, the customer protected, {name}: errors in %"
        table(f"{title}; {draws:,} draws, seed {SEED + 100 + number}", columns, lines)
        ((_, statistic, place),) = quote.offer.columns
        told = f"Bounded by {quote.offer.bounding.way}; the answer says {statistic.statement(place).value}."
        console.print(f"{told} Mean error {mean:,.0f} by law, worst of all groups {worst:,.0f}.")


def _published(cell: GroupKeys) -> list[str]:
    if cell not in PUBLISHED:
        return ["", "", ""]
    truth, *runs = PUBLISHED[cell]
    return [_percent(abs(run - truth), truth) for run in runs]


def _percent(error: float, truth: float) -> str:
    return f"{100 * error / truth:.3f}" if truth else ""
