"""`dither local`: randomise a column where the data is, estimate where the reports are, choose a survey beforehand."""

from __future__ import annotations

import json
import math
import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count as count_from
from pathlib import Path
from typing import Annotated, Any

import typer

from dither.errors import DataError
from dither.local import files
from dither.local.choice import choose as pick
from dither.local.collect.estimate import NOTHING, Estimate
from dither.local.columns import Progress
from dither.local.registry import LISTED, NUMBERS, by_name, from_record
from dither.local.survey import Survey, read_domain
from dither.numeric.representation import high_end, low_end
from dither.terminal import fitted_table, wrapped

local = typer.Typer(no_args_is_help=True, help="Local differential privacy: surveys without a trusted collector.")

Values = Annotated[str | None, typer.Option(help="The values that an answer can have, public: yes,no,unsure.")]
ValuesFrom = Annotated[Path | None, typer.Option(help="Instead of --values: a text file, one value a line.")]
Count = Annotated[int | None, typer.Option(help="Instead of --values: answers are the numbers 0 to COUNT - 1.")]
Epsilon = Annotated[str, typer.Option(help="What one answer may give away, exactly: 1, 1/2, or ln(3).")]
BAR, RAW = 30, 9  # columns of a bar, and how many more it has where there is no column of raw estimates
EMPTY, LONGER = "no share fits (noise)", 5  # in the place of an interval, and how many more columns that takes
SURVEYS = (
    "direct, unary, hashing, hadamard or subset; for numbers duchi, piecewise, hybrid or 'noisy number'; "
    "'best' takes the best for so many values and people."
)


@local.command()
def randomize(
    data: Annotated[Path, typer.Argument(help="A Parquet or CSV file with the true answers.")],
    column: Annotated[str, typer.Option(help="The column that holds them.")],
    epsilon: Epsilon,
    values: Values = None,
    values_from: ValuesFrom = None,
    count: Count = None,
    low: Annotated[str | None, typer.Option(help="For numbers, instead of --values: the lower bound, public.")] = None,
    high: Annotated[str | None, typer.Option(help="And the upper bound.")] = None,
    survey: Annotated[str, typer.Option(help=SURVEYS)] = "best",
    people: Annotated[int, typer.Option(help="For 'best': about how many people answer, as is public.")] = 100_000,
    out: Annotated[Path, typer.Option(help="Where the reports go.")] = Path("reports.parquet"),
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Randomise every answer of a file. Run it where the answers are; only what it writes may leave."""
    if (low is None) != (high is None):
        raise DataError("--low, --high", (low, high), "numbers have two bounds", "--low 0 --high 100")
    if low is not None:
        if any(way is not None for way in (values, values_from, count)):
            raise DataError("--values", values, "answers are values or numbers, not both", "--low and --high alone")
        asked: Any = _of_numbers(survey, low, high, epsilon)
    else:
        asked = _survey(survey, _domain(values, values_from, count), epsilon, people)
    if not out.parent.is_dir() or out.is_dir():
        raise DataError("--out", str(out), "no file can be written there", f"--out {_free(Path('reports.parquet'))}")
    if out.exists() and out.resolve() == data.resolve():
        raise DataError("--out", str(out), "there is a file of that name: the true answers", f"--out {_free(out)}")
    if out.exists() and not force:
        raise DataError("--out", str(out), "there is a file of that name", f"--out {_free(out)}, or --force")
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=".dither-", suffix=".parquet")  # nobody else's file
    os.close(handle)
    partial = Path(name)
    try:
        with _bar("randomising") as progress:
            batches = (asked.randomize(_typed(batch, asked)) for batch in files.read_values(data, column, progress))
            written = files.write(partial, batches)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    typer.echo(f"{written} reports in {out}: {asked}, {asked.guarantee} for each answer")


@local.command()
def estimate(
    reports: Annotated[list[str], typer.Argument(help="Files of reports of one survey, or patterns: 'reports/*.parquet'.")],
    method: Annotated[str | None, typer.Option(help="raw, clip, simplex, or what else the survey has.")] = None,
    confidence: Annotated[str, typer.Option(help="With which probability each interval holds.")] = "0.95",
    top: Annotated[int, typer.Option(help="How many values to show.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="All values, as JSON.")] = False,
) -> None:
    """How frequent each value is, or what the mean of numbers is, from reports."""
    with _bar("counting") as progress:
        tally = files.tally_files(reports, progress=progress)
    survey = from_record(tally.record)
    if method is not None and not hasattr(survey, "methods"):
        raise DataError("--method", method, "this survey has one way to estimate", "no --method")
    found: Any = survey.estimate(tally, confidence=confidence, **({} if method is None else {"method": method}))
    if not hasattr(found, "domain"):  # a mean, or a list of heavy hitters
        typer.echo(json.dumps(_plain(found), default=lambda value: value.tolist()) if as_json else str(found))
    else:
        typer.echo(json.dumps(_facts(found, tally.rejected)) if as_json else _drawn(found, top))
    if not as_json:
        if tally.rejected:
            typer.echo(f"{tally.rejected} rows were no reports of this survey and were left out", err=True)
        if tally.duplicates:
            typer.echo(f"{tally.duplicates} reports were further ones of their clients and were left out", err=True)
        typer.echo(f"{survey}: {survey.guarantee} for each answer")


@local.command()
def choose(
    epsilon: Epsilon,
    people: Annotated[int, typer.Option(help="How many people answer.")],
    count: Annotated[int | None, typer.Option(help="How many values an answer can have.")] = None,
    grid: Annotated[str | None, typer.Option(help="Instead of --count, for places: columns x rows, as 10x10.")] = None,
    shape: Annotated[str | None, typer.Option(help="For --grid, how people live: clusters, point or flat.")] = None,
) -> None:
    """Choose the survey with the least error and say why."""
    if (count is None) == (grid is None):
        why = "answers are values or places, said in exactly one way"
        raise DataError("--count", count, why, "--count 100, or --grid 10x10")
    if grid is None:
        if shape is not None:
            raise DataError("--shape", shape, "it is of a grid", "--grid 10x10 --shape point")
        typer.echo(str(pick(count or 0, epsilon, people)))
        return
    columns, cross, rows = grid.partition("x")
    if not (cross and columns.isdecimal() and rows.isdecimal()):
        raise DataError("--grid", grid, "it is columns x rows", "--grid 10x10")
    asked: Any = "clusters" if shape is None else shape  # another word is refused with a reason
    typer.echo(str(pick((int(columns), int(rows)), epsilon, people, shape=asked)))


def _free(path: Path) -> str:
    """A name like this one of which there is no file."""
    several = (path.with_name(f"{path.stem}-{number}.parquet") for number in count_from(2))
    return shlex.quote(str(path if not path.exists() else next(each for each in several if not each.exists())))


def _domain(values: str | None, values_from: Path | None, count: int | None) -> Any:
    if sum(way is not None for way in (values, values_from, count)) != 1:
        why = "the values that an answer can have are public, and said in exactly one way"
        raise DataError("--values", values, why, "--values yes,no, --values-from FILE, or --count 100")
    if values is not None:
        return [part.strip() for part in values.split(",")]
    if values_from is not None:
        try:
            return [line.rstrip("\r") for line in values_from.read_text(encoding="utf-8-sig").rstrip("\n").split("\n")]
        except UnicodeDecodeError as error:
            raise DataError("--values-from", str(values_from), f"it is no text: {error}", "a file in UTF-8") from error
    return count or 0


def _survey(name: str, domain: Any, epsilon: str, people: int) -> Survey:
    listed = read_domain(domain)
    if name == "best":
        name = pick(len(listed), epsilon, people).name
    if name not in LISTED:
        raise DataError("--survey", name, "it is no survey of listed values", ", ".join(LISTED))
    made: Survey = by_name(name)(listed, epsilon=epsilon)
    return made


def _of_numbers(name: str, low: str, high: str | None, epsilon: str) -> Any:
    if name != "best" and name not in NUMBERS:
        raise DataError("--survey", name, "it is none for numbers", ", ".join(NUMBERS))
    return by_name("hybrid" if name == "best" else name)(low, high, epsilon=epsilon)


def _plain(found: Any) -> dict[str, Any]:
    import dataclasses

    return dataclasses.asdict(found)


def _typed(batch: list[Any], survey: Any) -> list[Any]:
    """Numbers and booleans as the text that --values had."""
    if hasattr(survey, "domain") and isinstance(survey.domain[0], str):
        return [_text(value) for value in batch]
    kind = float if hasattr(survey, "low") else int
    return [_number(value, kind) for value in batch]


def _number(value: Any, kind: Any) -> Any:
    """Text of a CSV file as a number; what is none stays, and is refused in words."""
    try:
        return kind(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _text(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextmanager
def _bar(what: str) -> Iterator[Progress]:
    """A progress bar on the terminal, and nothing where there is none."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, rows: bar.update(task, completed=done, total=rows)


def _drawn(found: Estimate, top: int) -> str:
    order = sorted(range(len(found.domain)), key=lambda at: -found.frequency[at])[: max(1, top)]
    most = max((float(found.high[at]) for at in order if not found.empty[at]), default=1.0) or 1.0
    most = max(most, float(found.frequency[order[0]]))
    vague = found.vague
    raw = found.method != "raw" and not vague.all()  # else it is one and the same number, or says nothing
    bar = (BAR if raw else BAR + RAW) - (LONGER if found.empty[order].any() else 0)
    rows = [["value", "frequency", *["raw"] * raw, "", "low to high"]]
    for at in order:
        drawn = "█" * round(bar * max(0.0, float(found.frequency[at])) / most)
        interval = f"{low_end(found.low[at], 4)} to {high_end(found.high[at], 4)}"
        if found.empty[at]:
            interval = EMPTY
        shares = [f"{found.frequency[at]:z.4f}", *[NOTHING if vague[at] else f"{found.raw[at]:z.4f}"] * raw]
        rows.append([str(found.domain[at]), *shares, f"{drawn:{bar}}", interval])
    lines = [wrapped(found.warning())] if vague.any() else []
    lines += fitted_table(rows, left=(0, 2 + raw, 3 + raw), rule=1)
    if len(found.domain) > len(order):
        lines.append(f"... and {len(found.domain) - len(order)} more")
    lines.append(wrapped(f"from {found.people} reports; {found.statement('low to high')}"))
    return "\n".join(lines)


def _facts(found: Estimate, rejected: int) -> dict[str, object]:
    columns = (found.frequency, found.raw, found.deviation, found.low, found.high, found.half_width)
    names = ("frequency", "raw", "deviation", "low", "high", "half_width")
    rows = [
        {"value": value, **{name: None if math.isnan(x) else x for name, x in zip(names, numbers, strict=True)}}
        for value, *numbers in zip(found.domain, *(x.tolist() for x in columns), strict=True)
    ]
    about = {"people": found.people, "rejected": rejected, "method": found.method, "why": found.why}
    return {**about, "confidence": found.confidence, "values": rows}
