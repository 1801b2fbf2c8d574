"""What the library says in the words of Python, in those of the command line: `epsilon='0.5'` is `--epsilon 0.5`."""

from __future__ import annotations

import re

from dither.errors import DitherError, QuestionError, show

FLAGS = (
    *(
        "epsilon",
        "rho",
        "error",
        "confidence",
        "size",
        "bounding",
        "delta",
        "other",
        "noise",
        "intervals",
        "limits",
        "bounds",
    ),
    "analyst",
)
NAMES = "|".join(FLAGS)
WORDS = (  # in this order; what has no flag is left out or said by those that do
    (re.compile(r"(?<=, )guarantee=pure\('[^']*'\), (?=or )"), ""),
    (re.compile(r"guarantee=pure\('([^']*)'\)"), r"--noise geometric --epsilon \1"),
    (re.compile(r"quote\(\[\.\.\.\], epsilon='([^']*)'\)"), r"--epsilon \1 for all of them"),
    (re.compile(r"(?:error=)?\{'([^']*)': '?([^'}]*)'?\}"), r"--error \1=\2"),
    (re.compile(rf"(?<![\w-])({NAMES})='([^']*)'"), r"--\1 \2"),
    (re.compile(rf"(?<![\w-])({NAMES})=([\w./]+)"), r"--\1 \2"),
    (re.compile(rf"(?<![\w-])({NAMES})=(?![\w'=])"), r"--\1"),
    (re.compile(r"a budget such as approx\(([^,]*), '([^']*)'\)"), r"a ledger made with --epsilon \1 --delta \2"),
    (re.compile(r"or zcdp\('([^']*)'\)"), r"or --rho \1"),
    (re.compile(r"^'([\w./]*)'$"), r"\1"),
    (re.compile(r"batch\.errors"), "the errors that the quote tells"),
)


def in_flags(text: str) -> str:
    """The same text with flags in place of keywords."""
    for words, flags in WORDS:
        text = words.sub(flags, text)
    return text


def refusal(error: DitherError) -> str:
    """An error as the command line tells it. What came is shown as it came."""
    where = f"--{error.where}" if error.where in FLAGS else error.where
    why, instead = in_flags(error.why), in_flags(error.instead)
    whole = f" The whole question: {error.rewrite}" if isinstance(error, QuestionError) and error.rewrite else ""
    return f"{where} = {show(error.came)} is refused: {why}. What would work: {instead}.{whole}"
