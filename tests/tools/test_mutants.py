"""Mutants of a small package: which nodes are changed, which tests belong to a file, and the outcomes."""

from __future__ import annotations

import json

import pytest
from tools.mutants import EQUIVALENT, FILES, ROOT, Mutant, draw, equivalents, own_tests, private_files, run, sites

LIMITS = '''"""Limits: at most 1 + 1 rows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    WIDE = 2 ** 7


def clip(value, low, high):
    """From 0 to 9."""
    if low > high:
        raise ValueError(f"low is {low + 1}" if low < 3 else 4)
    return max(low, min(value, high))


def first(values, place=0):
    assert place >= 0
    if place == 9:
        time.sleep(600)
    print(f"{place - 1} is not last")
    return sorted(values)[place]


class Limit:
    def __repr__(self):
        return "Limit" * 3

    def holds(self, rows, most):
        why = "1" + "2"
        return not (rows > most or -(-rows // 2) > most) and bool(why)
'''
TESTS = {
    "test_limits.py": "from small.limits import clip, first\n"
    "def test_clip(): assert [clip(x, 0, 9) for x in (-5, 5, 99)] == [0, 5, 9]\n"
    "def test_first(): assert first([3, 1, 2]) == 1\n",
    "test_a_broken_one.py": "from small.limits import clip\ndef test_always(): assert clip is None\n",
    "helper.py": "from small.limits import clip\n",
    "test_by_a_helper.py": "from tests.helper import clip\ndef test_there(): assert clip\n",
    "test_of_another.py": "def test_nothing(): pass\n",
}
PATH = "src/small/limits.py"


@pytest.fixture
def small(tmp_path):
    """A package with one file, and its tests."""
    root = tmp_path / "small"
    for name, text in {PATH: LIMITS, **{f"tests/{name}": text for name, text in TESTS.items()}}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for folder in ("src/small", "tests"):
        (root / folder / "__init__.py").touch()
    return root


def changes(root):
    return {mutant.name.removeprefix(f"{PATH} "): mutant for variants in sites(root, [PATH]) for mutant in variants}


def test_what_is_changed(small):
    """Neither docstrings, nor words of refusals, nor what is for types or people alone."""
    test, place, found = "not (rows > most or -(-rows // 2) > most) and bool(why)", "place == 9", changes(small)
    assert set(found) == {
        "clip: guard deleted: low > high", "clip: low > high -> low >= high", "clip: low > high -> low <= high",
        "clip: max(low, min(value, high)) -> min(low, min(value, high))", "clip: min(value, high) -> max(value, high)",
        "first: 0 -> 1", "first: 0 -> -1", f"first: {place} -> place != 9", "first: 9 -> 10", "first: 9 -> 8",
        "first: 600 -> 601", "first: 600 -> 599", "first: sorted(values) -> sorted(values, reverse=True)",
        f"Limit.holds: {test} -> {test.replace(' and ', ' or ')}",
        "Limit.holds: not (rows > most or -(-rows // 2) > most) -> rows > most or -(-rows // 2) > most",
        "Limit.holds: rows > most or -(-rows // 2) > most -> rows > most and -(-rows // 2) > most",
        "Limit.holds: rows > most -> rows >= most", "Limit.holds: rows > most -> rows <= most",
        "Limit.holds: -(-rows // 2) > most -> -(-rows // 2) >= most",
        "Limit.holds: -(-rows // 2) > most -> -(-rows // 2) <= most",
        "Limit.holds: -(-rows // 2) -> rows // 2", "Limit.holds: -rows // 2 -> -rows * 2",
        "Limit.holds: 2 -> 3", "Limit.holds: 2 -> 1",
    }  # fmt: skip
    for mutant in found.values():
        text = mutant.apply(LIMITS.encode()).decode()
        compile(text, PATH, "exec")
        assert sum(one != other for one, other in zip(text.split("\n"), LIMITS.split("\n"), strict=True)) == 1


def test_one_seed_one_draw(small):
    drawn = [mutant.name for mutant in draw(small, [PATH], 6, 1)]
    assert len(set(drawn)) == 6
    assert drawn == [mutant.name for mutant in draw(small, [PATH], 6, 1)]
    assert drawn != [mutant.name for mutant in draw(small, [PATH], 6, 2)]


def test_own_tests(small):
    """First the file of that name, then those that import it, those whose helpers do, and the others of the folder."""
    names = [name.removeprefix("tests/") for name in own_tests(small, PATH)]
    assert names == ["test_limits.py", "test_a_broken_one.py", "test_by_a_helper.py", "test_of_another.py"]


def test_outcomes(small, tmp_path, capsys):
    """A mutant that tests find, one that they miss, one that is known to change nothing; and a run that goes on."""
    results, every = tmp_path / "results.jsonl", changes(small)
    names = {
        "first: sorted(values) -> sorted(values, reverse=True)": "found",
        "clip: guard deleted: low > high": "missed",
        "first: 600 -> 599": "equivalent",
    }
    mutants = [every[name] for name in names]
    mutants.append(Mutant("a text without an end", PATH, 1, "none", 0, 3, "("))
    known = equivalents(f"# about them\n\n{every['first: 600 -> 599'].name}  # nobody waits  # so long\n")
    found = run(small, mutants, results, tests="own", known=known)
    assert [line["outcome"] for line in found] == [*names.values(), "not compiled"]
    assert found[0]["by"] == "tests/test_limits.py::test_first"
    assert "-    return sorted(values)[place]\n+    return (sorted(values, reverse=True))[place]" in found[0]["diff"]
    assert found[2]["why"] == "nobody waits  # so long"
    assert (small / PATH).read_text() == LIMITS, "the checkout itself is changed"

    lines = results.read_text().splitlines()
    assert [json.loads(line)["name"] for line in lines] == [mutants[place].name for place in (0, 1, 3)]
    capsys.readouterr()
    assert run(small, mutants, results, tests="own", known=known) == found
    assert not capsys.readouterr().out, "what is there was run again"
    assert results.read_text().splitlines() == lines


def test_time_out(small, tmp_path):
    """Whatever the processor: without an end the test takes minutes."""
    mutant = changes(small)["first: place == 9 -> place != 9"]
    (found,) = run(small, [mutant], tmp_path / "results.jsonl", tests="own", known={}, seconds=3)
    assert found["outcome"] == "timed out"


def test_files_that_bound_privacy():
    """Each line of the list names files that are there, and each line of known mutants one that can be drawn."""
    package = ROOT / "src" / "dither"
    for folder, names in FILES.items():
        assert [name for name in names.split() if not list((package / folder).glob(f"{name}.py"))] == [], folder
    known = equivalents(EQUIVALENT.read_text())
    paths = {name.split(" ")[0] for name in known}
    assert paths <= set(private_files(ROOT))
    assert set(known) <= {mutant.name for variants in sites(ROOT, paths) for mutant in variants}
