"""Long lists of declared keys as views of the session that reads: they go with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.query.engines.key_lists import KeyLists
from dither.query.engines.spark.words import key_view
from dither.query.policy.column import Type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class KeyViews:
    """The lists of a release in one session, each handed over once."""

    def __init__(self, session: SparkSession, lists: KeyLists | None) -> None:
        self._session, self._lists, self._there = session, lists, set[str]()

    def hand_over(self) -> None:
        """Those that are new."""
        import pyarrow

        kinds = {Type.TEXT: pyarrow.string(), Type.INTEGER: pyarrow.int64(), Type.DATE: pyarrow.date32()}
        new = [] if self._lists is None else [one for one in self._lists.by_name.values() if one.name not in self._there]
        for one in new:
            keys = pyarrow.table({"k": pyarrow.array(one.keys, kinds[one.type])})
            self._session.createDataFrame(keys).createOrReplaceTempView(key_view(one))
            self._there.add(one.name)
