"""What the library says in the words of Python, in those of the command line: `epsilon='0.5'` is `--epsilon 0.5`.

`WORDS` holds for whatever is refused; `PLAIN` also takes the quotes of Python off, so it is not for questions and policies,
whose texts have quotes of their own. A test reads every refusal in the source that a command can meet, and another those
that the tests of the command line do meet: none has a Python spelling left.
"""

from __future__ import annotations

import errno
import re

from dither.errors import DitherError, PolicyError, QuestionError, show

FLAGS = (
    *("epsilon", "rho", "error", "confidence", "size", "spread", "bounding", "delta", "other"),
    *("noise", "intervals", "limits", "bounds", "analyst", "daily"),
)
NAMES = "|".join(FLAGS)
TOKEN = {"dataset": "--dataset", "role": "--role", "epsilon, rho": "--epsilon, --rho", "name": "NAME"}
OWN = {"unit": "--unit", "domain": "--domain", "witness": "--witness", "out": "--out"}
PLACES = {"idempotency_key": "--key", **OWN, **TOKEN}
NUMBER = r"'?([\w./-]+)'?"
WORDS = (  # in this order; what has no flag is left out or said by those that do
    (re.compile(r"(?<=, )guarantee=pure\('[^']*'\), (?=or )"), ""),
    (re.compile(r"guarantee=pure\('([^']*)'\)"), r"--noise geometric --epsilon \1"),
    (re.compile(r"quote\(\[\.\.\.\], epsilon='([^']*)'\)"), r"--epsilon \1 for all of them"),
    (re.compile(r"spread=\{'([^']*)': ([^},]*)(?:, '([^']*)': ([^},]*))?\}"), lambda found: _spread(found)),
    (re.compile(r"(?:error=)?\{'([^']*)': '?([^'}(]*)'?\}"), r"--error \1=\2"),
    (re.compile(r"a budget such as approx\(([^,]*), '([^']*)'\)"), r"a ledger made with --epsilon \1 --delta \2"),
    (re.compile(r"or zcdp\('([^']*)'\)"), r"or --rho \1"),
    (re.compile(rf"(?<![\w-])({NAMES})='([^']*)'"), r"--\1 \2"),
    (re.compile(rf"(?<![\w-])({NAMES})=([\w./]+)"), r"--\1 \2"),
    (re.compile(rf"(?<![\w-])({NAMES})=(?![\w'=])"), r"--\1"),
    (re.compile(r"batch\.errors"), "the errors that the quote tells"),
    (re.compile(r"Ledger\(\.\.\., domain='([^']*)'\)"), r"dither ledger create with --domain \1"),
    (re.compile(r"(?<![\w-])domain= beside it"), "--domain beside it"),
    (re.compile(r"Ledger\.create\(\.\.\.(?:, budget=\.\.\.)?\)"), "dither ledger create"),
    (re.compile(r"Ledger\([^)]*\), which opens it"), "dither ledger show"),
    (re.compile(r", or none: Ledger\(location\)"), ""),
    (re.compile(r"ledger\.verify\(\)"), "dither ledger verify"),
    (re.compile(r"moved=True"), "dither ledger restore"),
    (re.compile(r"the owner calls ledger\.share\(name, \.\.\.\)"), "the owner has: dither ledger share"),
    (re.compile(r"^True, if the ledger was moved here$"), "dither ledger restore"),
    (re.compile(r", or a filter such as filter\.\w+\(\d+\)"), ""),
    (re.compile(rf"(?:dither\.)?approx\({NUMBER}, {NUMBER}\)"), r"--epsilon \1 --delta \2"),
    (re.compile(rf"(?:dither\.)?pure\({NUMBER}\)"), r"--epsilon \1"),
    (re.compile(rf"(?:dither\.)?zcdp\({NUMBER}\)"), r"--rho \1"),
    (re.compile(r"mechanism\.guarantee, or "), ""),
    (re.compile(r"(?:; |, or )\.(?:to\(unit\)|per_person\(rows\))(?: where that proves something)?"), ""),
    (re.compile(r"; \.epsilon\(0\) is inf"), ""),
    (re.compile(r"\.epsilon\('([^']*)'\)"), r"--delta \1"),
    (re.compile(r", a DataFrame of pandas, polars or Spark, or an Arrow table"), ""),
    (re.compile(r"(?:; )?to try things out, Ledger\.temporary\([^;]*$"), ""),
    (
        re.compile(
            r"an integer, a Fraction, a Decimal, a float such as 0\.1, or text such as '0\.1', '1/3', '1e-6', 'ln\(3\)'"
        ),
        "a number such as 0.1, 1/3, 1e-6 or ln(3)",
    ),
    (re.compile(r"'([\d./]+)' or Fraction\(1, 3\)"), r"\1 or 1/3"),
)
PLAIN = (  # numbers and words that stand in quotes alone
    (re.compile(r"^'([\w./ -]*)'$"), r"\1"),
    (re.compile(r"(?<!\w)'(\d[\w./%-]*)'"), r"\1"),
)
ADVICE = {  # by what the operating system said
    errno.ENOENT: "a file in a folder that exists",
    errno.EEXIST: "a name that is free",
    errno.ENOTDIR: "a folder, where a file has that name",
    errno.EISDIR: "a file, where a folder has that name",
    errno.EACCES: "a place that this user may read and write",
    errno.EPERM: "a place that this user may read and write",
    errno.ENOSPC: "a disk that has room",
    errno.EROFS: "a disk that can be written",
}


def _spread(found: re.Match[str]) -> str:
    one, first, other, second = found.groups()
    return f"--spread {one}={first}" + ("" if other is None else f" --spread {other}={second}")


def in_flags(text: str, *, plain: bool = False) -> str:
    """The same text with flags in place of keywords; `plain` takes the quotes off numbers too."""
    for words, flags in (*WORDS, *(PLAIN if plain else ())):
        text = words.sub(flags, text)
    return text


def parts(error: DitherError) -> tuple[str, str, str]:
    """Where it was refused, why, and what would work, as the command line tells them."""
    plain = not isinstance(error, (PolicyError, QuestionError))
    typed = error.where in FLAGS and not isinstance(error, PolicyError)  # a policy has no flags
    where = f"--{error.where}" if typed else PLACES.get(error.where, error.where)
    where = re.sub(r"^(error|spread) of (.*)$", r"--\1 \2", where)
    return where, in_flags(error.why, plain=plain), in_flags(error.instead, plain=plain)


def refusal(error: DitherError) -> str:
    """An error as the command line tells it. What came is shown as it came."""
    where, why, instead = parts(error)
    return f"{where} = {_shown(error.came)} is refused: {why}. What would work: {instead}."


def disk_refusal(error: OSError) -> str:
    """What the operating system refuses: a folder that is not there, a disk that is full."""
    why, instead = error.strerror or "it cannot be used", ADVICE.get(error.errno or 0, "another place")
    return f"{show(str(error.filename or 'the disk'))} is refused: {why}. What would work: {instead}."


def _shown(came: object) -> str:
    if isinstance(came, tuple):
        return ", ".join(_shown(each) for each in came)
    if type(came).__name__ in ("Fraction", "Decimal", "Number"):  # by name, since a list of commands loads none of them
        return str(came)
    return "nothing" if came is None else show(came)
