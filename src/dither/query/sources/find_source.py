"""The source that an owner states: a path, a glob, or a frame."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

from dither.errors import DataError
from dither.query.policy.csv_dialect import PLAIN, CsvDialect
from dither.query.sources.csv_files import CsvFiles
from dither.query.sources.frames import FRAMES
from dither.query.sources.partitioned_files import PartitionedFiles, cells_of, files_below
from dither.query.sources.postgres_table import postgres_table
from dither.query.sources.source import DataLike, DuckDBFile, ParquetFiles, Source
from dither.query.sources.spark_session import SparkSessionLike
from dither.query.sources.spark_table import PREFIX, SparkFrame, spark_source

KINDS = "a .parquet, .csv or .duckdb file, a glob of such, a directory of Parquet, "
KINDS += "postgresql://..., a DataFrame of pandas, polars or Spark, or an Arrow table"

SPARK_FRAME = ("pyspark", "DataFrame")
EXAMPLES = {"dict": "pyarrow.table(data)", "list": "pyarrow.Table.from_pylist(data) of a list of dicts"}


def find_source(
    stated: DataLike,
    folder: Path,
    where: str,
    dialect: CsvDialect | None = None,
    spark: SparkSessionLike | None = None,
) -> Source:
    """The source that a path, a glob or a frame stands for; `dialect` where its owner says that it is CSV, and which;
    `spark` reads what Spark has."""
    source = _find_source(stated, folder, where, dialect, spark)
    if dialect is not None and not isinstance(source, CsvFiles):
        facts = ", ".join(dialect.stated()) or "separator, encoding, quote, header"
        raise DataError(where, source.kind, f"only CSV files have what is stated of it: {facts}", "leaving that out")
    return source


def _find_source(
    stated: DataLike, folder: Path, where: str, dialect: CsvDialect | None, spark: SparkSessionLike | None
) -> Source:
    if isinstance(stated, str) and stated.startswith(PREFIX):
        return spark_source(stated, where, spark)
    if isinstance(stated, str) and stated.startswith(("postgresql://", "postgres://")):
        return postgres_table(stated, where)
    if isinstance(stated, (str, Path)):
        try:
            return _files(str(stated), folder, where, dialect)
        except OSError as error:
            raise DataError(where, str(stated), f"it cannot be looked at: {error.strerror}", KINDS) from None
    must_be_table(stated, where)
    module, kind = _class(stated)
    if (module, kind) == SPARK_FRAME:
        frame: Any = stated
        return SparkFrame(frame.sparkSession, frame)
    return FRAMES[module, kind](stated)


def must_be_table(stated: DataLike, where: str) -> None:
    """Refuse what is neither text, which may be a path, nor a table in memory; it is not looked into."""
    module, kind = _class(stated)
    if isinstance(stated, (str, Path)) or (module, kind) == SPARK_FRAME or (module, kind) in FRAMES:
        return
    if kind == "LazyFrame":
        raise DataError(where, kind, "it is not computed yet", "frame.collect()")
    if hasattr(stated, "__arrow_c_stream__"):  # it may be read only once, and a second question would find nothing
        raise DataError(where, kind, "it may be a stream that can be read only once", "pyarrow.table(data)")
    if kind in EXAMPLES:
        raise DataError(where, kind, "its columns have no types and may differ in length", f"{EXAMPLES[kind]}; or {KINDS}")
    raise DataError(where, kind, "it is no table that can be read", KINDS)


def _class(stated: DataLike) -> tuple[str, str]:
    """The package and the name of the class of a value."""
    return type(stated).__module__.split(".")[0], type(stated).__name__


def _fixed(pattern: Path) -> Path | None:
    """The folder below which names of folders are cells: a directory, or what stands before the first `year=*` of a glob."""
    if pattern.is_dir():
        return pattern
    places = [place for place, part in enumerate(pattern.parts[:-1]) if "=" in part and glob.has_magic(part)]
    return Path(*pattern.parts[: places[0]]) if places and not pattern.is_file() else None


def _files(stated: str, folder: Path, where: str, dialect: CsvDialect | None) -> Source:
    pattern = str(folder / stated)
    if Path(pattern).is_dir():
        found = files_below(Path(pattern), where)
    else:
        found = [pattern] if Path(pattern).is_file() else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
        found = [path for path in found if Path(path).is_file()]
    paths = tuple(str(Path(path).resolve()) for path in found)
    if not paths:
        raise DataError(where, stated, f"there is no such file in {folder}", KINDS)
    files = [(Path(path).stat().st_dev, Path(path).stat().st_ino) for path in paths]
    if len(set(files)) != len(files):  # its rows would count twice
        raise DataError(where, stated, "it finds one file under two names", "each file once")
    for path in paths:
        if any(sign in path for sign in "*?[]") or not path.isprintable():
            raise DataError(where, path, "the engine would read that name as a pattern", "a plain file name")
    endings = {Path(path).suffix.lower() for path in paths}
    if endings <= {".parquet", ".pq"}:
        cells = cells_of(found, fixed, where) if (fixed := _fixed(Path(pattern))) is not None else ((),)
        return PartitionedFiles(paths, cells) if cells[0] else ParquetFiles(paths)
    if endings == {".csv"} or (dialect is not None and endings <= {".csv", ".tsv", ".txt"}):
        return CsvFiles(paths, dialect or PLAIN)
    if endings <= {".duckdb", ".db"} and len(paths) == 1:
        return DuckDBFile(paths[0])
    raise DataError(where, stated, "it does not say by its ending what it is, or mixes several kinds", KINDS)
