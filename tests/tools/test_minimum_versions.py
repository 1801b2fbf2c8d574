"""Lower bounds of dependencies as constraints: each names one version, extras of extras are followed."""

from __future__ import annotations

import re
import tomllib

import pytest
from tools.minimum_versions import PROJECT, constraints, requirements

OURS = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]


def project(*base: str, **extras: list[str]) -> dict[str, object]:
    return {"name": "dither", "dependencies": list(base), "optional-dependencies": extras}


def test_extras_are_followed_and_each_bound_stands_once():
    stated = project("b>=2.1,<3", some=["dither[more,other]", "a[x]>=1.0.3,<2"], more=["b>=2.1,<3"], other=["C-c>=4"])
    assert constraints(stated, []) == ["b==2.1"]
    assert constraints(stated, ["some"]) == ["a==1.0.3", "b==2.1", "c-c==4"]
    around = project(one=["dither[two]"], two=["dither[one]", "a>=1"])  # each names the other
    assert constraints(around, ["one"]) == ["a==1"]


@pytest.mark.parametrize("line", ["a", "a<2", "a>1", "a==1", "a>=1; python_version < '3.12'", "a @ https://example.org/a"])
def test_what_has_no_lower_bound_is_refused(line):
    with pytest.raises(SystemExit, match="no lower bound"):
        constraints(project(line), [])


def test_two_bounds_of_one_library_and_extras_that_are_not_there_are_refused():
    with pytest.raises(SystemExit, match="two lower bounds of a: 1 and 2"):
        constraints(project("a>=1", more=["a>=2"]), ["more"])
    with pytest.raises(SystemExit, match=r"no such extra: les\. What would work: more"):
        constraints(project("a>=1", more=[]), ["les"])


@pytest.mark.parametrize("extra", [*OURS["optional-dependencies"]])
def test_every_dependency_of_ours_has_a_lower_and_an_upper_bound(extra):
    """But for the build tool, whose newest version builds what it built."""
    assert constraints(OURS, [extra])
    for line in requirements(OURS, [extra]):
        assert re.search(r",<[\d.]+$", line) or line.startswith("hatchling"), line


def test_the_extra_of_the_site_brings_what_a_build_imports():
    """The reference is made of the fronts, and that of models is imported with scikit-learn alone."""
    assert "scikit-learn" in {re.split(r"[\[>]", line)[0] for line in requirements(OURS, ["docs"])}
