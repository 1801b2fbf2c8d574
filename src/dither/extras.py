"""Libraries beyond the base installation: one that is missing is a refusal which names the command that installs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dither.errors import MissingExtraError


@contextmanager
def needs(package: str) -> Iterator[None]:
    """Around an import of what `pip install package` brings: `with needs("dither[plot]"): import altair`."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing(package, error.name) from error


def missing(package: str, module: str | None) -> MissingExtraError:
    """What is said where a module of a package is not installed."""
    why = f"the base installation does not have {module or 'it'}"
    return MissingExtraError("package", package, why, f"pip install '{package}'")
