"""Formulas of the pages: MathML that a browser sets by itself, and LaTeX that GitHub and a terminal can show."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from mkdocs_formulas import FormulaError, mathml, pieces

ROOT = Path(__file__).parent.parent.parent
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(?!\s)([^$]+?)(?<!\s)\$(?!\d)", re.DOTALL)


def formulas(page: Path) -> list[str]:
    found = FORMULA.findall(CODE.sub("", page.read_text(encoding="utf-8")))
    return [block or inline for block, inline in found]


def text(latex: str) -> str:
    """The letters and signs that are shown, in order."""
    return "".join(ElementTree.fromstring(mathml(latex)).itertext())


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        ("P(S) ≤ e^ε Q(S) + δ", "P(S)≤eεQ(S)+δ"),
        (r"P(S) \le e^\varepsilon Q(S) + \delta", "P(S)≤eεQ(S)+δ"),
        (r"\frac{δ (e^{kε} - 1)}{e^ε - 1}", "δ(ekε−1)eε−1"),
        ("k² ρ", "k2ρ"),
        ("a < b", "a<b"),
        (r"\mathbb{E} e^{tL}", "𝔼etL"),
        (r"∑_{i=1}^n x_i → ∞", "∑i=1nxi→∞"),
    ],
)
def test_what_is_shown(latex, shown):
    assert text(latex) == shown


def test_signs_are_operators_and_powers_are_set_high():
    assert "<mo>&#x02264;</mo>" in mathml("a ≤ b")  # an operator, with room on both sides
    assert "<msup><mi>k</mi><mrow><mn>2</mn></mrow></msup>" in mathml("k²")
    assert 'display="block"' in mathml("a", block=True)
    assert 'display="inline"' in mathml("a")


def test_names_of_functions_stand_apart_from_letters():
    space = '<mspace width="0.17em"/>'
    assert f"<mn>2</mn>{space}<mi>ln</mi>{space}<mi>x</mi>" in mathml(r"2 \ln x")
    assert '<mi>tanh</mi><mo stretchy="false">' in mathml(r"\tanh(x)")  # no room before a bracket
    assert "<mi>Lap</mi><mo" in mathml(r"\operatorname{Lap}(1)")


def test_bars_stand_close_to_what_is_between_them():
    made = mathml(r"\lvert x - y \rvert^2 - P(a \mid b)")
    assert made.count('<mo form="prefix" stretchy="false">&#x0007C;</mo><mi>x</mi>') == 1
    assert made.count('<msup><mo form="postfix" stretchy="false">&#x0007C;</mo>') == 1
    assert "<mo>&#x02223;</mo>" in made  # between two things there is room
    assert made.count("<mo>&#x02212;</mo>") == 2


def test_a_minus_before_a_number_stands_close_to_it():
    for latex in ("(-x)", "a = -x", r"\lvert -x \rvert", "f(a, -x)"):
        assert '<mo form="prefix">&#x02212;</mo><mi>x</mi>' in mathml(latex), latex
    for latex in ("(a) - x", "[a] - x", r"\lvert a \rvert - x", "n! - x", "a - x"):
        assert "<mo>&#x02212;</mo><mi>x</mi>" in mathml(latex), latex


def test_a_long_formula_may_break_before_its_signs():
    found = pieces(mathml(r"f(-x) = a + b_{i+1} ≤ -c"))
    assert ["".join(ElementTree.fromstring(one).itertext()) for one in found] == ["f(−x)", "=a", "+bi+1", "≤−c"]
    assert '<mo form="infix">=</mo>' in found[1]
    assert "infix" not in found[0]  # the sign of a number stays with it


@pytest.mark.parametrize(
    ("latex", "why"),
    [
        (r"\unknown x", "is not known"),
        (r"\frac{1", "is not closed"),
        (r"a \, b", "on GitHub"),
        (r"\{a\}", "on GitHub"),
        ("a ☃ b", "is not known"),
        ("√k", "is not known"),
        ("|x|", "lvert"),
    ],
)
def test_what_would_be_set_wrongly_is_refused(latex, why):
    with pytest.raises(FormulaError, match=why):
        mathml(latex)


def test_every_formula_of_the_pages_is_set():
    """A bar in a table would end the cell; a formula over a blank line would be none."""
    pages = {page: formulas(page) for page in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]}
    for page, found in pages.items():
        for latex in found:
            assert "\n\n" not in latex, f"{page.name}: {latex}"
            assert mathml(latex), page.name
        for row in re.findall(r"^\|.*\|$", CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE):
            assert not any("|" in "".join(found) for found in FORMULA.findall(row)), f"{page.name}: {row}"
    assert sum(map(len, pages.values())) > 30


def test_dollars_in_code_are_no_formulas(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("`$HOME` and $x$ for 5$ or 6$\n\n```console\n$ dither demo $x$\n```\n\n$$\ny\n$$\n")
    assert formulas(page) == ["x", "\ny\n"]
