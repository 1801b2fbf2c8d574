"""Answers in files: one column of a Parquet or CSV file, batch by batch, before it is randomised.

A file that cannot be read to its end, or has no such column, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dither.arguments import argument_errors
from dither.errors import DataError

BATCH = 1 << 16  # rows
Progress = Callable[[int, int], None]  # rows done, rows in all


@argument_errors
def read_values(path: Path | str, column: str, progress: Progress | None = None) -> Iterator[list[Any]]:
    """The values of one column of a Parquet or CSV file, batch by batch; those of CSV are text.

    Args:
        path: of the file.
        column: its name.
        progress: called with the number of rows done and of rows in all, for Parquet.

    Raises:
        DataError: the file cannot be read, or has no such column, or several.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from dither.local import files
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "answers.csv"
        ...     size = path.write_text("answer\\nyes\\nno\\n")
        ...     list(files.read_values(path, "answer"))
        [['yes', 'no']]
    """
    source = Path(path)
    if not source.is_file():
        raise DataError("file", str(path), "it is not there", "a Parquet or CSV file")
    yield from _of_csv(source, column) if source.suffix == ".csv" else _of_parquet(source, column, progress)


def _of_parquet(path: Path, column: str, progress: Progress | None) -> Iterator[list[Any]]:
    import pyarrow as pa

    file = open_parquet(path)
    if file.schema_arrow.names.count(column) != 1:
        raise DataError("column", column, "the file has no such column, or several", ", ".join(file.schema_arrow.names[:6]))
    try:
        for batch in record_batches(file, [column], BATCH, progress):
            yield batch.column(0).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise DataError("file", str(path), f"it cannot be read to its end: {error}", "a whole Parquet file") from error


def _of_csv(path: Path, column: str) -> Iterator[list[Any]]:
    import csv
    from itertools import islice

    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(file, strict=True)
            names = next(rows, [])
            if names.count(column) != 1:
                raise DataError("column", column, "the file has no such column, or several", ", ".join(names[:6]))
            at = names.index(column)
            # an empty line is nothing, unless there is one column only: then it is a missing answer
            answers = (row[at] if at < len(row) else None for row in rows if row or len(names) == 1)
            while batch := list(islice(answers, BATCH)):
                yield batch
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError("file", str(path), f"it cannot be read: {error}", "a CSV file in UTF-8") from error


def open_parquet(path: Path | str, nor: str = "", works: str = "reports.parquet") -> Any:
    """The Parquet file at `path`, its schema read; refused where it is none, `nor` what else it might have been."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        why = f"it is no Parquet file that can be read ({type(error).__name__})" + (f", {nor}" if nor else "")
        raise DataError("file", str(path), why, works) from error


def record_batches(file: Any, columns: list[str], rows: int, progress: Progress | None) -> Iterator[Any]:
    """Record batches of these `columns`, at most so many `rows` each; `progress` hears of each one that was used."""
    done = 0
    for batch in file.iter_batches(batch_size=rows, columns=columns):
        yield batch.select(columns)
        done += len(batch)
        if progress is not None:
            progress(done, file.metadata.num_rows)
