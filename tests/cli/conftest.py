"""Every refusal that a test of the command line meets is read: none may speak Python."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from dither.cli import main
from dither.cli.flags import parts, refusal
from dither.errors import DitherError
from tests.cli.spelling import python_spelling

INVOKE = CliRunner.invoke


def read(error: BaseException | None) -> None:
    """Fail where a refusal has a Python spelling."""
    if isinstance(error, DitherError) and hasattr(error, "instead"):
        for said in parts(error):
            assert python_spelling(said) is None, refusal(error)


@pytest.fixture(autouse=True)
def _no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def invoke(self: CliRunner, *arguments: Any, **options: Any) -> Any:
        result = INVOKE(self, *arguments, **options)
        read(result.exception)
        return result

    def told(error: DitherError) -> str:
        read(error)
        return refusal(error)

    monkeypatch.setattr(CliRunner, "invoke", invoke)
    monkeypatch.setattr(main, "refusal", told)
