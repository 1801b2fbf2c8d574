"""Texts of the page, in one place: a folder for each language, a file for each page. Others can be added beside English."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from types import SimpleNamespace

LANGUAGE = "en"


@cache
def texts(language: str = LANGUAGE) -> SimpleNamespace:
    """All texts of a language: `texts().ask.title` is `title` in ask.toml."""
    folder = files(__package__) / "texts" / language
    found = {each.name.removesuffix(".toml"): tomllib.loads(each.read_text("utf-8")) for each in folder.iterdir()}
    return SimpleNamespace(**{page: SimpleNamespace(**told) for page, told in sorted(found.items())})


def fill(text: str, **values: str | int | float) -> str:
    """A text with values in the places of their names, such as {price}."""
    return text.format(**values)
