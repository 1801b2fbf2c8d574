"""Errors of a release are shown in these tests, except where a test is about their being dropped."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

pytest.importorskip("sklearn")


@pytest.fixture(autouse=True)
def causes_shown(request, monkeypatch):
    if "fails_after_the_charge" in request.node.name:
        return

    @contextmanager
    def shown():
        yield []

    monkeypatch.setattr("dither.learn.base.estimator.untold", shown)
