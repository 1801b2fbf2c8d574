"""`dither demo`: a made-up clinic, three private questions, and what is left of the budget afterwards."""

from __future__ import annotations

import datetime
import hashlib
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.panel import Panel

from dither.errors import ConflictError
from dither.ledger.report import bar
from dither.query.answers.answer import Answer
from dither.query.dataset import open as open_policy
from dither.query.owner.create_ledger import create_ledger
from dither.terminal import wrapped

if TYPE_CHECKING:
    import pyarrow

VISITS, PATIENTS, CAME = 30_000, 9_000, 8_676  # patients that there are, and those of them who came at all
MOST_VISITS = 6  # of one patient, as the policy says
SIZE = 3_000  # values of most wards, about
WARDS = ["cardiology", "maternity", "oncology", "paediatrics", "surgery"]

POLICY = """\
# What is protected, in the owner's words. Nothing here was taken from the rows.
version = 1
domain = "clinic"
unit = "add/remove one person"
data_version = "2026-01"

[ledger]
location = "clinic.ledger"
budget = { epsilon = "3", delta = "1e-6" }  # all that may ever be spent

[limits]
per_question = { epsilon = "1", delta = "1e-6" }

[tables.visits]
source = "visits.parquet"
person = "patient_id"
max_rows = 6  # of one patient so many visits count
hard = ["max_rows", "bounds.cost", "bounds.age", "steps.cost", "keys.ward"]  # true of every row: answers are about all rows

[tables.visits.columns]
patient_id = { type = "integer", nullable = false }
day = { type = "date", nullable = false }
ward = { type = "text", keys = ["cardiology", "maternity", "oncology", "paediatrics", "surgery"], nullable = false }
age = { type = "integer", bounds = [0, 100], nullable = false }
cost = { type = "decimal", bounds = [0, 2000], step = "0.01", nullable = false }
"""

ASK = """\
import dither

clinic = dither.open("policy.toml")
sql = "SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward"
quote = clinic.quote(sql, epsilon="0.5", size=5000)
print(quote.explain())  # the price and the error, before anything is paid or read

print(quote.release())  # the ledger pays, then the data is read
"""

QUESTIONS = [
    ("How many visits had each ward, and what did they cost on average?",
     "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"),
    ("How many patients of 65 or older came at all?",
     "SELECT COUNT(DISTINCT patient_id) AS patients FROM visits WHERE age >= 65"),
    ("In which quarter was most to do?",
     "SELECT EXTRACT(quarter FROM day) AS quarter, COUNT(*) AS visits FROM visits GROUP BY quarter"),
]  # fmt: skip


def save(folder: Path) -> bool:
    """Write the clinic: visits.parquet, policy.toml and ask.py. One that is there is kept, with its ledger; whether so."""
    import pyarrow.parquet

    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("policy.toml", POLICY), ("ask.py", ASK)):
        if (folder / name).exists() and not _is_ours((folder / name).read_text(encoding="utf-8", errors="replace"), text):
            raise ConflictError("--save", str(folder / name), "there is another file of that name", "a new folder")
    kept, visits, ledger = (folder / "policy.toml").exists(), folder / "visits.parquet", folder / "clinic.ledger"
    for path in (visits, ledger) if not kept else ():  # it may be somebody's data
        if path.exists():
            raise ConflictError("--save", str(path), "there is another file of that name", "a new folder")
    if kept and not ledger.exists():
        why = "the ledger of the clinic in this folder is not there, so nobody knows what was spent"
        raise ConflictError("--save", str(ledger), why, "a new folder")
    if not visits.exists():
        pyarrow.parquet.write_table(_visits(), visits)
    (folder / "ask.py").write_text(ASK, encoding="utf-8")
    if not kept:
        (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
        create_ledger(folder / "policy.toml", write=True)
    return kept


def _visits() -> pyarrow.Table:
    """The rows, the same every time."""
    import pyarrow

    made_up = _numbers(7 * VISITS + 6 * PATIENTS)
    u, ages = made_up[: 7 * VISITS].reshape(7, VISITS), made_up[7 * VISITS :].reshape(6, PATIENTS)
    age = (-8 * np.log(ages).sum(axis=0)).clip(0, 99).astype(int)  # sums of exponentials: gamma
    likely = np.where(age < 16, 3, np.where(age > 60, 0, 4))
    whose = (u[0] * PATIENTS).astype(int)
    whose = _at_most(np.where(u[1] < 0.01, whose % 20, whose))  # a few come as often as they can
    ward = np.where(u[2] < 0.5, likely[whose], (u[3] * len(WARDS)).astype(int))
    day = (u[4] * 365).astype(int)
    cost = (-np.array([150, 240, 320, 90, 270])[ward] * np.log(u[5] * u[6])).round(2).clip(0, 2000)
    return pyarrow.table(
        {
            "patient_id": whose + 100_000,
            "day": [datetime.date(2025, 1, 1) + datetime.timedelta(days=int(offset)) for offset in day],
            "ward": [WARDS[place] for place in ward],
            "age": age[whose],
            "cost": cost,
        }
    )


def _is_ours(found: str, text: str) -> bool:
    """Whether a file is the one that was written here, perhaps with the identity of its ledger."""
    return found == text or re.sub(r'(?m)^identity = "[0-9a-f]+"\n', "", found) == text


def _at_most(whose: NDArray[np.int64]) -> NDArray[np.int64]:
    """Nobody comes more than six times: later visits are those of the next patients who may still come."""
    came = [0] * PATIENTS
    found = []
    for patient in whose.tolist():
        while came[patient] == MOST_VISITS:
            patient = (patient + 1) % PATIENTS
        came[patient] += 1
        found.append(patient)
    return np.array(found)


def _numbers(count: int) -> NDArray[np.float64]:
    """Numbers between 0 and 1, the same every time: the clinic is made up, and they protect nobody."""
    bits = np.frombuffer(hashlib.shake_128(b"a made-up clinic").digest(8 * count), dtype="<u8")
    return (bits >> np.uint64(11)).astype(np.float64) / 2**53 + 2**-54


def show(epsilon: str, keep: Path | None = None) -> None:
    """Ask three questions about the clinic and print what comes."""
    with tempfile.TemporaryDirectory(prefix="dither-demo-") as passing:
        if keep is not None and save(keep):  # what is asked here is asked of a copy, so that its whole budget is left
            told = f"{keep} has a clinic already, which is kept: visits.parquet, policy.toml, ask.py, and the ledger with "
            told += "what was spent of its budget. answer.svg is written anew. For a full budget, name another folder.\n"
            Console(highlight=False).print(wrapped(told), markup=False)
        _show(epsilon, Path(passing), keep)


def _show(epsilon: str, folder: Path, keep: Path | None) -> None:
    console = Console(highlight=False)
    save(folder)
    console.print(f"[bold]A made-up clinic:[/] {VISITS:,} visits of {CAME:,} patients, and a policy:")
    console.print(f"what is protected, and how much may ever be spent. Each question costs ε = {epsilon}.\n")
    clinic = open_policy(folder / "policy.toml")
    answers = []
    for words, sql in QUESTIONS:
        quote = clinic.quote(sql, epsilon=epsilon, size=SIZE)
        console.print(Panel(f"{words}\n[dim]{sql}[/]", expand=False))
        console.print(f"  before paying, with 95% probability, where a group has {SIZE:,} values:")
        for name, error in quote.errors.items():
            console.print(f"    {name} will be off by about {error:,.3g} at most")
        answers.append(quote.release())
        console.print(f"\n{answers[-1]}\n", markup=False)
    console.print(_bars(answers[0]), markup=False)
    left, last = clinic.ledger.remaining(), quote.guarantee
    console.print(f"\nbudget  {bar(left.used)}  {left}", markup=False)
    more = left.words(last, which="question like the last one").partition(": ")[2]
    reason = left.reason(last)
    console.print(wrapped(f"        {more}" + (f" ({reason})" if reason else "")), markup=False)
    if keep is not None:
        (keep / "answer.svg").write_text(answers[0].svg("cost"), encoding="utf-8")
        console.print(f"a picture of the first answer: {keep / 'answer.svg'}", markup=False)
    clinic.ledger.close()
    console.print("\n[bold]What to try next[/]")
    if keep is not None:
        console.print(f"  (asked of a copy: the ledger in {keep} was not charged)", markup=False)
        console.print(f"  cd {keep}, then python ask.py, which is six lines", markup=False)
        console.print("  dither quote 'SELECT COUNT(*) AS n FROM visits' --error n=100", markup=False)
        console.print("  dither query 'SELECT AVG(age) AS age FROM visits' --epsilon 0.2", markup=False)
        console.print("  dither ledger show clinic.ledger", markup=False)
    else:
        console.print("  dither demo --save clinic      keeps the data, the policy and a script to change", markup=False)
        console.print("  dither policy init FILE        drafts a policy for a file of your own", markup=False)


def _bars(answer: Answer) -> str:
    """Average cost by ward, with its error bar, in a terminal."""
    width = max(answer["cost_high"])
    lines = ["average cost, with what the noise leaves open"]
    for row in answer.rows():
        low, middle, high = (round(50 * row[f"cost{end}"] / width) for end in ("_low", "", "_high"))
        drawn = "".join("●" if x == middle else "─" if low <= x <= high else " " for x in range(51))
        lines.append(f"  {row['ward']:<12} {drawn} {row['cost']:,.0f}")
    return "\n".join(lines)
