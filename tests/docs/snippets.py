"""Pages whose code runs: ```python blocks in order in one namespace, each beside the ```output block that follows it.

    output         texts and numbers as they are printed, to the last digit: exact and certified numbers
    output-float   numbers that the snippet itself rounds: floating or measured ones. Another processor may compute another
                   last bit, so each is compared within one unit in its last printed digit; everything else to the letter
    output-shape   what one run printed whose noise was drawn anew: words to the letter, and a number where there is a number

In the first two, ... stands for anything on the line. A snippet must not print a *tie*: a float that rounds the other way
when it moves by 1e-12 of itself. (One unit in the last digit would forgive it; the reader who runs the page would wonder.)

Needs the standard library and dither alone, so that pages run also where the wheel is installed without extras:

    python tests/docs/snippets.py README.md docs/*.md
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
import tempfile
import types
import warnings
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from dither import create_ledger, demo
from dither.errors import MissingExtraError

BLOCK = re.compile(r"^```([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLOAT = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)(?!\w)")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
NEAR = 1e-12  # a float that rounds otherwise when it moves by this part of itself is printed on a tie
OTHERS = ("text", "toml", "sql")
OF_EXTRAS = (
    "altair",
    "ibis",
    "pandas",
    "polars",
    "pyspark",
    "vl_convert",
)  # what a page may import that the base does not have
HIDDEN = re.compile(r"%[-+ #0]*\d*\.\d|\{:[^}]*\}[^\n]*\.format\(")  # roundings that are not looked at


class PageError(AssertionError):
    """A page that promises something else than its code does."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


# -- what is printed beside what is promised ---------------------------------------------------------------------------


def as_pattern(text: str) -> re.Pattern[str]:
    """Expected output, in which ... stands for anything on the line."""
    lines = [".*".join(re.escape(part) for part in line.rstrip().split("...")) for line in text.strip().splitlines()]
    return re.compile(r"\s*" + r" *\n".join(lines) + r"\s*")


def agrees(expected: str, printed: str, *, floats: bool) -> bool:
    """Whether the output is the one that is promised."""
    if not floats:
        return as_pattern(expected).fullmatch(printed) is not None
    wanted = FLOAT.findall(expected)
    marked = FLOAT.sub("\0", expected)
    pattern = as_pattern(marked).pattern.replace("\\\0", "\0").replace("\0", f"({FLOAT.pattern})")
    found = re.fullmatch(pattern, printed)
    return found is not None and all(close(one, other) for one, other in zip(wanted, found.groups(), strict=True))


def shape(text: str) -> list[str]:
    """Lines with all numbers alike, and columns that may be wider or narrower by a digit."""
    lines = [NUMBER.sub("0", line) for line in text.strip().splitlines()]
    rules = [re.sub(r"-+", "-", line) if set(line) <= {"-", " "} else line for line in lines]
    return [re.sub(r" +", " ", line).strip() for line in rules]


def close(wanted: str, found: str) -> bool:
    """Within one unit in the last digit that the page shows."""
    one, other = (Decimal(text.replace(",", "")) for text in (wanted, found))
    return abs(one - other) <= Decimal(1).scaleb(int(one.as_tuple().exponent))


# -- numbers that a snippet rounds ---------------------------------------------------------------------------------------


@dataclass
class Rounding:
    """Stands in for the ways in which a snippet rounds floats: f-strings, format, round, and round of arrays."""

    floats: int = 0
    ties: list[str] = field(default_factory=list)

    def text(self, value: Any, spec: str) -> str:
        """format(value, spec), looked at."""
        shown = format(value, spec)
        if isinstance(value, float) and re.search(r"\.\d|[eEfFgG%]$", spec):
            self._look(value, shown, lambda moved: format(moved, spec))
        return shown

    def number(self, value: Any, digits: int | None = None) -> Any:
        """round(value, digits), looked at."""
        rounded = round(value, digits)
        if isinstance(value, float):
            self._look(value, repr(rounded), lambda moved: repr(round(moved, digits)))
        return rounded

    def array(self, owner: Any, *given: Any) -> Any:
        """np.round(values, digits) or values.round(digits), looked at."""
        values, digits = given[0] if isinstance(owner, types.ModuleType) else owner, given[-1]
        for value in getattr(values, "flat", [values]):
            self._look(float(value), repr(round(float(value), digits)), lambda moved: repr(round(moved, digits)))
        return owner.round(*given)

    def _look(self, value: float, shown: str, as_shown: Any) -> None:
        self.floats += 1
        if any(as_shown(type(value)(value * (1 + move))) != shown for move in (NEAR, -NEAR)):
            self.ties.append(f"{value!r} as {shown}")


class RoundingCalls(ast.NodeTransformer):
    """f"{x:.3f}" becomes f"{text(x, '.3f')}", and x.round(3) becomes array(x, 3)."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "round" and not node.keywords:
            call = ast.Call(ast.Name("_rounded_array", ast.Load()), [node.func.value, *node.args], [])
            return ast.copy_location(call, node)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        if node.format_spec is None or node.conversion != -1:
            return node
        call = ast.Call(ast.Name("_rounded_text", ast.Load()), [node.value, node.format_spec], [])
        return ast.copy_location(ast.FormattedValue(call, -1, None), node)


# -- a page --------------------------------------------------------------------------------------------------------------


@dataclass
class Page:
    """One page as it is run: what went wrong, and which packages it asked for that are not installed."""

    path: Path
    absent: list[str] = field(default_factory=list)
    unmade: set[str] = field(default_factory=set)  # names of snippets that did not run
    ran: int = 0

    def run(self, folder: Path) -> None:
        """All blocks in order, in a folder of its own; a PageError says what differs."""
        found, fences = blocks(self.path), re.findall(r"^\s*(?:```|~~~)", self.path.read_text(encoding="utf-8"), re.M)
        if len(fences) != 2 * len(found):
            raise PageError(f"{self.path.name}: {len(fences)} fences and {len(found)} blocks: one is not read as it stands")
        namespace: dict[str, Any] = {"__name__": "page"}
        rounding, printed, skipped = Rounding(), "", False
        with contextlib.chdir(folder):
            for kind, text in blocks(self.path):
                if kind == "python":
                    rounding = Rounding()
                    printed, skipped = self._execute(text, namespace, rounding)
                elif kind == "console":
                    set_up(text, folder)
                elif kind in ("output", "output-float", "output-shape") and not skipped:
                    self._compare(kind, text, printed, rounding)
                elif not skipped and kind not in OTHERS:
                    raise PageError(f"{self.path.name}: what is ```{kind}?")

    def _execute(self, text: str, namespace: dict[str, Any], rounding: Rounding) -> tuple[str, bool]:
        if HIDDEN.search(text):
            raise PageError(f"{self.path.name} rounds in a way that is not looked at (f-strings are), in\n{text}")
        tree = ast.fix_missing_locations(RoundingCalls().visit(ast.parse(text)))
        namespace |= {
            "_rounded_text": rounding.text,
            "_rounded_array": rounding.array,
            "round": rounding.number,
            "format": rounding.text,
        }
        with contextlib.redirect_stdout(io.StringIO()) as captured, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(compile(tree, str(self.path), "exec"), namespace)
            except MissingExtraError as error:
                return self._not_run(str(error.came).strip("'"), tree)
            except ModuleNotFoundError as error:
                if str(error.name).split(".")[0] not in OF_EXTRAS:
                    raise
                return self._not_run(str(error.name), tree)
            except NameError as error:
                if error.name not in self.unmade:
                    raise
                return self._not_run(self.absent[-1], tree)  # what it goes on with is from a snippet that did not run
        if rounding.ties:
            raise PageError(f"{self.path.name} prints a tie: {'; '.join(rounding.ties)}, in\n{text}")
        self.ran += 1
        return captured.getvalue(), False

    def _not_run(self, absent: str, tree: ast.AST) -> tuple[str, bool]:
        """A snippet that did not run, for want of a package, and the names that it would have made."""
        self.absent.append(absent)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self.unmade |= {alias.asname or alias.name for alias in node.names}
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.unmade.add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self.unmade.add(node.name)
        return "", True

    def _compare(self, kind: str, text: str, printed: str, rounding: Rounding) -> None:
        floats = kind == "output-float"
        alike = shape(text) == shape(printed) if kind == "output-shape" else agrees(text, printed, floats=floats)
        if not alike:
            raise PageError(f"{self.path.name} promises\n{text}\nbut the code printed\n{printed}")
        if rounding.floats and kind == "output" and FLOAT.search(text):
            raise PageError(f"{self.path.name} rounds floats itself, so its numbers are ```output-float:\n{text}")


def set_up(commands: str, folder: Path) -> None:
    """What a page tells its reader to do before its code runs: write the made-up clinic, make a ledger, and go there."""
    for line in commands.splitlines():
        if saved := re.match(r"\$ dither demo --save (\w+)", line):
            demo.save(folder / saved[1])
        if (made := re.match(r"\$ dither ledger create --policy (\S+) --write", line)) and Path(made[1]).exists():
            create_ledger(made[1], write=True)
        if there := re.match(r"\$ (?:cd (\w+)|.* && cd (\w+))", line):
            os.chdir(folder / (there[1] or there[2]))


def main(paths: list[str]) -> int:
    """Run pages and say what each needed that is not there."""
    failed = 0
    for path in paths:
        page = Page(Path(path).resolve())
        with tempfile.TemporaryDirectory() as folder:
            try:
                page.run(Path(folder))
                if not page.ran and any(kind == "python" for kind, _ in blocks(page.path)):
                    raise PageError("nothing of it ran")
            except Exception as error:
                failed += 1
                print(f"{path}: FAILED\n{type(error).__name__}: {error}", flush=True)
                continue
        needs = f"; not run, for want of {', '.join(sorted(set(page.absent)))}: {len(page.absent)}" if page.absent else ""
        print(f"{path}: {page.ran} snippets ran{needs}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
