"""What Spark's Python side would log of an error, dropped where rows are read: the text may hold cells.

PySpark writes the text of each error that it makes to a logger of its own, before anybody can catch it, and the library that
talks to Java writes all that it says and hears, where its level is DEBUG. So does the client of Spark Connect. A filter on
these loggers drops what comes from threads that read rows for a release; all else is logged as before. (From other threads
the client tells that the server could not be told to forget a result: by the name of an operation, without cells.)
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dither.extras import needs

LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark.sql.connect.logging")
TALK = (
    *("py4j", "py4j.clientserver", "py4j.java_gateway"),
    *("grpc", "grpc._channel", "grpc._common", "grpc._plugin_wrapping", "grpc._cython.cygrpc"),
)
_reading: set[int] = set()  # threads


def _is_told(record: logging.LogRecord) -> bool:
    return record.thread not in _reading


@contextmanager
def quiet() -> Iterator[None]:
    """Errors of Spark in this thread are logged nowhere in this process."""
    with needs("dither[spark]"):
        from pyspark.logger import PySparkLogger
    for name in LOGGERS:  # made by PySpark, whose loggers take more than others; each has a filter once
        PySparkLogger.getLogger(name).addFilter(_is_told)
    for name in TALK:
        logging.getLogger(name).addFilter(_is_told)
    here, outside = threading.get_ident(), threading.get_ident() not in _reading
    _reading.add(here)
    try:
        yield
    finally:
        if outside:
            _reading.discard(here)
