"""The jobs of a release on Spark, as a group: how far they are, and how they are stopped.

A tag of the session would do both, but a session knows the tags of one thread alone, and Ctrl-C comes to another.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Jobs:
    """Jobs of one release."""

    def __init__(self, session: SparkSession) -> None:
        self._context, self._name = session.sparkContext, f"dither-{secrets.token_hex(16)}"

    def begin(self) -> None:
        """What this thread asks for from now on is of the group."""
        self._context.setJobGroup(self._name, "a release of dither", interruptOnCancel=False)

    def stop(self) -> None:
        """End those that run."""
        self._context.cancelJobGroup(self._name)

    def progress(self) -> float:
        """The share of tasks that are done, of those that are known by now."""
        tracker, done, known = self._context.statusTracker(), 0, 0
        for job in tracker.getJobIdsForGroup(self._name):
            found = tracker.getJobInfo(job)
            for stage in () if found is None else found.stageIds:
                info = tracker.getStageInfo(stage)
                if info is not None:
                    done, known = done + info.numCompletedTasks, known + info.numTasks
        return done / known if known else 0.0
