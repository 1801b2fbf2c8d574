"""The picture of the README: the answer of the README's own question, with noise from a seed, as `Answer.svg()` draws it.

    python -m tests.docs.readme_picture       writes docs/pictures/answer.svg, and prints the answer for the page

The clinic is made up, so that a seed gives nobody away; everybody else draws noise that nobody can repeat.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

from dither import demo
from dither.errors import NotPrivateWarning
from dither.query.answers.answer import Answer
from dither.testing import seeded

PICTURE = Path(__file__).parent.parent.parent / "docs" / "pictures" / "answer.svg"
SEED = 5
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def answer() -> Answer:
    """What the README asks, of a new copy of the clinic."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), contextlib.chdir(folder):
        warnings.simplefilter("ignore", NotPrivateWarning)
        demo.save(Path())
        made: dict[str, Any] = {}
        with seeded(SEED), contextlib.redirect_stdout(None):
            exec(demo.ASK.replace("print(quote.release())", "answer = quote.release()"), made)
        return made["answer"]


def differences(drawn: str, stored: str) -> list[str]:
    """Where two pictures differ: in a mark or a word, or in a number by more than another processor's rounding."""
    if NUMBER.sub("#", drawn) != NUMBER.sub("#", stored):
        return ["marks or words"]
    pairs = zip(NUMBER.findall(drawn), NUMBER.findall(stored), strict=True)
    return [f"{one} for {other}" for one, other in pairs if abs(float(one) - float(other)) > 0.11]


if __name__ == "__main__":
    found = answer()
    PICTURE.write_text(found.svg(), encoding="utf-8")
    print(found)
