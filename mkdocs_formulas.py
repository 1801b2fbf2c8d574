"""Formulas of the pages, as MathML: a browser sets them without a script, a font of ours or a network.

A page writes a formula as GitHub reads it, between dollars, $P(S) ≤ e^ε Q(S) + δ$, or on lines of its own between double
dollars: LaTeX, with the letters and signs that a terminal can show (ε, ≤ and ² rather than \\varepsilon, \\le and ^2).
Dollars in code are left alone. `pymdownx.arithmatex` finds the formulas, and what it finds is converted here.

A formula that would be set wrongly in one of these places is refused, and the build fails: a command that is not known, a
brace that is not closed, a bar that does not say whether it opens, closes or stands between (\\lvert, \\rvert, \\mid), and a
backslash before punctuation (\\, or \\{), which Markdown takes away on GitHub.
"""

from __future__ import annotations

import html
import re
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert

FOUND = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
COMMANDS = {
    "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≈": r"\approx", "∝": r"\propto", "±": r"\pm", "·": r"\cdot", "×": r"\times",
    "∈": r"\in", "⊆": r"\subseteq", "∪": r"\cup", "∩": r"\cap", "→": r"\to", "∞": r"\infty", "…": r"\dots", "∑": r"\sum",
    "∏": r"\prod", "∫": r"\int", "∖": r"\setminus", "∥": r"\Vert", "∼": r"\sim", "∀": r"\forall", "∃": r"\exists",
    "⇒": r"\Rightarrow", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil", "²": "^{2}", "³": "^{3}",
    "−": "-", "∘": r"\circ",
}  # fmt: skip
UNKNOWN = re.compile(r"<m[ino][^>]*>(\\[^<]*|[^\x00-\u03ff\u2100-\u214f\U0001d400-\U0001d7ff])</m")
NAME = re.compile(r"<m[io][^>]*>([A-Za-z]{2,})</m[io]>")  # ln, tanh, Lap: upright, as a letter is not
OPEN = re.compile(r"<mo[^>]*>(?:&#x00028;|\[|&#x0007B;)")
BAR = "<mo>&#x0007C;</mo>"
SIDES = {"lvert": "prefix", "rvert": "postfix"}  # else a bar is taken for a sign between two things, with room around it
# A minus behind a sign or an opening bracket belongs to what follows: no room between the two.
NEGATIVE = re.compile(r'(<mo(?![^>]*"postfix")[^>]*>(?!&#x00029;|]|&#x00021;|&#x0007D;)[^<]*</mo>)<mo>(?=&#x02212;)')
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
HAT, NARROW_HAT = "<mo>&#x0005E;</mo>", '<mo stretchy="false">&#x002C6;</mo>'  # the first is as wide as three letters
SIGNS = ("=", "≤", "≥", "<", ">", "+", "−")
LONG = 30  # letters of LaTeX: about what a phone has room for
SPACE = '<mspace width="0.17em"/>'


class FormulaError(ValueError):
    """A formula that would be set wrongly somewhere."""


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """The formulas of a page as MathML."""
    try:
        return FOUND.sub(lambda found: _placed(html.unescape(found[3]), block=found[2] == "["), content)
    except FormulaError as error:
        raise FormulaError(f"{page.file.src_uri}: {error}") from error


def _placed(latex: str, *, block: bool) -> str:
    """In the line, or in a box of its own, which scrolls where it is too narrow: by keys, too, so it takes the focus."""
    made = mathml(latex, block=block)
    if block:
        return f'<div class="formula" tabindex="0" role="group" aria-label="formula">{made}</div>'
    return "<wbr>".join(pieces(made)) if len(latex) > LONG else made


def pieces(made: str) -> list[str]:
    """A long formula in the line, cut before its signs: browsers break a line between formulas, and inside of none."""
    ElementTree.register_namespace("", NAMESPACE)
    rows: list[list[ElementTree.Element]] = [[]]
    ended = False  # whether something stands before, which a sign can stand behind
    for part in ElementTree.fromstring(made)[0]:  # noqa: S314 - made here
        if ended and part.text in SIGNS and part.get("form") is None:
            part.set("form", "infix")  # else it would be taken for a sign of what follows, and lose its room
            rows.append([])
        rows[-1].append(part)
        ended = not part.tag.endswith("}mo") or part.text in (")", "]") or part.get("form") == "postfix"
    found = []
    for row in rows:
        whole = ElementTree.Element(f"{{{NAMESPACE}}}math", display="inline")
        ElementTree.SubElement(whole, f"{{{NAMESPACE}}}mrow").extend(row)
        found.append(ElementTree.tostring(whole, encoding="unicode"))
    return found


def mathml(latex: str, *, block: bool = False) -> str:
    """A formula of a page as MathML."""
    latex = latex.strip()
    if eaten := re.search(r"\\(?!\\)[!-/:-@\[\]^_`{|}~]", latex.replace(r"\\", "")):
        raise FormulaError(f"{latex!r}: Markdown takes the backslash of {eaten[0]} away on GitHub; use a command of letters")
    if latex.count("{") != latex.count("}"):
        raise FormulaError(f"{latex!r}: a brace is not closed")
    if "|" in latex:
        raise FormulaError(rf"{latex!r}: a bar is \lvert or \rvert around something, and \mid between two things")
    written = re.sub("|".join(COMMANDS), lambda found: f"{COMMANDS[found[0]]} ", latex)
    made = convert(written, display="block" if block else "inline")
    if unknown := UNKNOWN.search(made):
        raise FormulaError(f"{latex!r}: {unknown[1]} is not known")
    return NEGATIVE.sub(r'\1<mo form="prefix">', _names(_bars(made, latex))).replace(HAT, NARROW_HAT)


def _bars(made: str, latex: str) -> str:
    """Bars that open and bars that close, in the order of the formula."""
    sides = iter(re.findall(r"\\([lr]vert)(?![A-Za-z])", latex))
    return re.sub(BAR, lambda _: f'<mo form="{SIDES[next(sides)]}" stretchy="false">&#x0007C;</mo>', made)


def _names(made: str) -> str:
    """Names of functions upright, and apart from letters and numbers beside them, as TeX has them."""
    parts, end = [], 0
    for found in NAME.finditer(made):
        before, after = made[: found.start()], made[found.end() :]
        parts += [made[end : found.start()]]
        parts += [SPACE] if re.search(r"</(?:mi|mn|msup|msub|msubsup|mfrac|msqrt)>$", before) else []
        parts += [f"<mi>{found[1]}</mi>"]
        parts += [SPACE] if re.match(r"<m(?:i|n|sup|sub|frac|sqrt)", after) and not OPEN.match(after) else []
        end = found.end()
    return "".join([*parts, made[end:]])
