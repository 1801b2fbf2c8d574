"""Workflows, issue forms and the citation: valid by their schemas, least rights, and they name what is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import dev
import pytest
import yaml
from tools.release.blanks import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
SCHEMAS = {
    "vendor.github-workflows": WORKFLOWS,
    "custom.github-workflows-require-timeout": WORKFLOWS,
    "vendor.github-issue-forms": FORMS,
    "vendor.github-issue-config": [ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"],
    "vendor.citation-file-format": [ROOT / "CITATION.cff"],
}
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def validated(schema: str, files: list[Path]) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("check_jsonschema", reason="not run: check-jsonschema is not installed")
    command = [sys.executable, "-W", "ignore", "-m", "check_jsonschema", "--builtin-schema", schema]
    return subprocess.run([*command, "--default-filetype", "yaml", *map(str, files)], capture_output=True, text=True)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_are_valid_by_their_schema(schema):
    assert SCHEMAS[schema]
    told = validated(schema, SCHEMAS[schema])
    assert told.returncode == 0, told.stdout + told.stderr


def test_a_key_that_no_workflow_has_is_found(tmp_path):
    text = (ROOT / ".github" / "workflows" / "check.yml").read_text()
    (tmp_path / "check.yml").write_text(text.replace("timeout-minutes", "timeout-minute", 1))
    assert validated("vendor.github-workflows", [tmp_path / "check.yml"]).returncode == 1


def jobs(text: str) -> dict[str, dict[str, object]]:
    return yaml.safe_load(text)["jobs"]


def faults(text: str) -> list[str]:
    """What the schema does not know: rights, versions of actions, jobs and commands that are not there."""
    found = [] if yaml.safe_load(text).get("permissions") == {"contents": "read"} else ["more rights than to read"]
    every = jobs(text)
    for name, job in every.items():
        found += [f"{name}: needs {one}" for one in job.get("needs", []) if one not in every]
        granted = job.get("permissions", {})
        if granted not in ({}, {"id-token": "write"}) or (granted and job.get("environment") != "release"):
            found.append(f"{name}: rights {granted}")
        matrix = job.get("strategy", {}).get("matrix", {})
        for step in job["steps"]:
            action, command = step.get("uses", "x@v1"), step.get("run", "")
            if not re.fullmatch(r"[\w-]+/[\w.-]+@[0-9a-f]{40}|pypa/gh-action-pypi-publish@release/v1|x@v1", action):
                found.append(f"{name}: {action}")
            if action.startswith("actions/checkout") and step.get("with", {}).get("persist-credentials") is not False:
                found.append(f"{name}: the checkout keeps its credentials")
            found += [f"{name}: ${{{{ {one} }}}} in a command" for one in re.findall(r"\$\{\{\s*([\w.]+)", command)]
            found += [f"{name}: dev.py {one}" for one in re.findall(r"dev\.py (\w+)", command) if one not in dev.COMMANDS]
            named = re.findall(r"(?:^|\s)((?:\.ci|tools|tests)/[\w./-]+)", command)
            found += [f"{name}: {one}" for one in named if not (ROOT / one).is_file()]
            used = re.findall(r"matrix\.(\w+)", str(step))
            found += [f"{name}: matrix.{one}" for one in used if one not in matrix]
    return found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_least_rights_and_names_what_is_there(path):
    assert faults(path.read_text()) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("contents: read", "contents: write"),
        ("needs: [style, default]", "needs: [styl]"),
        ("actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1", "actions/checkout@v7"),
        ("matrix.shard }}", "matrix.shards }}"),
        ("persist-credentials: false", "persist-credentials: true"),
        ("dev.py check", "dev.py chek"),
        ("tools/minimum_versions.sh", "tools/minimal_versions.sh"),
        ("${{ matrix.python }}", "${{ matrix.pyton }}"),
        ("run: python dev.py test\n", "run: echo ${{ github.head_ref }}"),
    ],
)
def test_each_fault_is_found(old, new):
    text = (ROOT / ".github" / "workflows" / "check.yml").read_text()
    assert old in text
    assert faults(text.replace(old, new, 1))


def test_every_python_is_asked_and_classifiers_name_no_other():
    check, nightly = (jobs((ROOT / ".github" / "workflows" / f"{name}.yml").read_text()) for name in ("check", "nightly"))
    assert set(check) >= {"style", "default", "rest", "whole", "minimum-versions", "no-extras"}
    assert set(nightly) >= {"default", "all", "kernels"}
    assert nightly["default"]["strategy"]["matrix"]["python"] == PYTHONS
    for job in (check["rest"], nightly["all"]):
        shards = job["strategy"]["matrix"]["shard"]
        assert shards == list(range(1, len(shards) + 1))
        assert any(f"/{len(shards)}" in step.get("run", "") for step in job["steps"])
    listed = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text())
    assert set(listed) <= set(PYTHONS)
    assert f'requires-python = ">={PYTHONS[0]}"' in (ROOT / "pyproject.toml").read_text()


def test_publishing_comes_after_the_check_for_blanks():
    every = jobs((ROOT / ".github" / "workflows" / "release.yml").read_text())
    commands = [step.get("run", "") for step in every["rehearse"]["steps"]]
    checked = next(place for place, run in enumerate(commands) if "tools.release check --tag" in run)
    assert checked < next(place for place, run in enumerate(commands) if "tools.release rehearse" in run)
    assert every["publish"]["needs"] == ["rehearse"]
