"""What is asked of the client of Spark Connect: sessions that others have changed, progress, and a server that is lost."""

from __future__ import annotations

import pytest

from dither.errors import DataError
from dither.query.engines.spark.jobs import TagJobs
from dither.query.sources.spark_session import SETTINGS, own_session
from tests.query.engines.spark.test_spark import Session


class Client:
    """The client of a session that others have changed."""

    def __init__(self, session):
        self.session, self.is_closed = session, False

    def set_retry_policies(self, policies):
        self.policies = policies

    def get_retry_policies(self):
        return []

    def get_config_dict(self, *settings):
        return {setting: self.session.get(setting) for setting in settings}

    def release_session(self):
        self.session.released = True

    def close(self):
        self.is_closed = True


class Remote(Session):
    """A session of Spark Connect that others have changed."""

    def __init__(self, *given, **stated):
        super().__init__(*given, **stated)
        self.client = Client(self)

    def newSession(self):  # noqa: N802
        return Remote(self.version, self.deaf, **self.stated)


Remote.__module__ = "pyspark.sql.connect.session"


def test_sessions_with_other_settings_are_refused(monkeypatch):
    pytest.importorskip("pyspark", reason="Spark is not run: no pyspark")
    made = []
    monkeypatch.setattr(Remote, "newSession", lambda self: made.append(Remote(self.version, self.deaf)) or made[-1])
    monkeypatch.setattr("dither.query.sources.spark_session.client_version", lambda: "4.3.0")
    own_session(Remote())
    assert not made[-1].client.is_closed
    for setting in SETTINGS:
        with pytest.raises(DataError, match=setting):
            own_session(Remote(deaf=(setting,)))
        assert made[-1].client.is_closed  # what is refused does not stay
        assert made[-1].released
    with pytest.raises(DataError, match=r"Spark 4\.9\.0"):
        own_session(Remote("4.9.0"))
    monkeypatch.setattr(Remote, "newSession", lambda self: Remote(spark__sql__extensions="org.other.Code"))
    with pytest.raises(DataError, match="changes what SQL means"):
        own_session(Remote())
    monkeypatch.setattr("dither.query.sources.spark_session.client_version", lambda: "4.9.0")
    with pytest.raises(DataError, match=r"PySpark 4\.9\.0 here"):
        own_session(Remote())


class Stage:
    def __init__(self, done, tasks):
        self.num_completed_tasks, self.num_tasks = done, tasks


def test_progress_and_a_lost_server():
    class Lost(Remote):
        def registerProgressHandler(self, handler):  # noqa: N802
            self.handler = handler

        def interruptTag(self, name):  # noqa: N802
            raise ConnectionError(name)

    lost = Lost()
    jobs = TagJobs(lost, "a")
    assert jobs.progress() == 0
    lost.handler(stages=None, inflight_tasks=0, operation_id=None, done=False)
    assert jobs.progress() == 0
    lost.handler(stages=[Stage(1, 2), Stage(0, 2)], inflight_tasks=1, operation_id="x", done=False)
    assert jobs.progress() == 1 / 4
    lost.handler(stages=[Stage(2, 2), Stage(2, 2)], inflight_tasks=0, operation_id="x", done=True)
    lost.handler(stages=[Stage(0, 4)], inflight_tasks=1, operation_id="y", done=False)
    assert jobs.progress() == 1 / 2
    jobs.stop()
    assert lost.client.is_closed
