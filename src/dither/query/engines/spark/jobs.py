"""The jobs of a release on Spark: how far they are, and how they are stopped.

In a session of this process they are a group. A tag would do as well, but such a session knows the tags of one thread alone,
and Ctrl-C comes to another. In a session of Spark Connect, which has no groups, they have a tag that the server knows.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from dither.query.sources.spark_connect import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Jobs(Protocol):
    """Jobs of one release."""

    def begin(self) -> None:
        """What this thread asks for from now on is one of them."""

    def stop(self) -> None:
        """End those that run."""

    def progress(self) -> float:
        """The share of tasks that are done, of those that are known by now."""


def jobs_of(session: SparkSession) -> Jobs:
    """Those of a release in a session of ours."""
    name = f"dither-{secrets.token_hex(16)}"
    return TagJobs(session, name) if is_connect(session) else GroupJobs(session, name)


class GroupJobs:
    """Those of a session whose driver is a child of this process."""

    def __init__(self, session: SparkSession, name: str) -> None:
        self._context, self._name = session.sparkContext, name

    def begin(self) -> None:
        self._context.setJobGroup(self._name, "a release of dither", interruptOnCancel=False)

    def stop(self) -> None:
        self._context.cancelJobGroup(self._name)

    def progress(self) -> float:
        tracker, done, known = self._context.statusTracker(), 0, 0
        for job in tracker.getJobIdsForGroup(self._name):
            found = tracker.getJobInfo(job)
            for stage in () if found is None else found.stageIds:
                info = tracker.getStageInfo(stage)
                if info is not None:
                    done, known = done + info.numCompletedTasks, known + info.numTasks
        return done / known if known else 0.0


class TagJobs:
    """Those of a session of Spark Connect. The server tells how far they are, every other second."""

    def __init__(self, session: Any, name: str) -> None:
        self._session, self._name, self._tasks = session, name, dict[str, tuple[int, int]]()
        session.registerProgressHandler(self._told)

    def begin(self) -> None:
        self._session.addTag(self._name)

    def stop(self) -> None:
        """A server that cannot be reached is not waited for: without its client the work ends."""
        self._session.client.set_retry_policies([])
        try:
            self._session.interruptTag(self._name)
        except Exception:
            self._session.client.close()

    def progress(self) -> float:
        done, known = (sum(counts) for counts in zip(*self._tasks.values(), strict=True)) if self._tasks else (0, 0)
        return done / known if known else 0.0

    def _told(self, stages: Iterable[Any] | None, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        """By the client, which names what it tells."""
        known = [(one.num_completed_tasks, one.num_tasks) for one in stages or ()]
        if known:
            self._tasks[str(operation_id)] = sum(part for part, _ in known), sum(of for _, of in known)
