"""A release: blanks block it, archives hold what they should, the local index is one that pip reads."""

from __future__ import annotations

import io
import re
import shutil
import tarfile
import urllib.request
import zipfile
from pathlib import Path

import pytest
from tools.release import archives, local_index
from tools.release.__main__ import main
from tools.release.blanks import LINKS, PAGES, ROOT, blanks, version
from tools.release.rehearsal import rehearse

import dither

FILES = (*PAGES, "pyproject.toml", "CHANGELOG.md", "src/dither/__init__.py")
VERSION = dither.__version__


# -- the version ---------------------------------------------------------------------------------------------------------


def test_the_version_has_one_source():
    assert version() == VERSION
    project = (ROOT / "pyproject.toml").read_text()
    assert 'dynamic = ["version"]' in project
    assert '[tool.hatch.version]\npath = "src/dither/__init__.py"' in project
    assert not re.search(r"^version =", project, re.MULTILINE)
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {VERSION} (" in (ROOT / "CHANGELOG.md").read_text()


# -- blanks --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def stated(tmp_path) -> Path:
    """A checkout of what is looked at, in which nothing is blank."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(re.sub(r"\bBLANK\b", "stated", text), encoding="utf-8")
    addresses = "".join(f'{name} = "https://example.org/{name}"\n' for name in LINKS)
    with (tmp_path / "pyproject.toml").open("a") as file:
        file.write(f"\n[project.urls]\n{addresses}")
    log = tmp_path / "CHANGELOG.md"
    log.write_text(re.sub(rf"^## {VERSION} \(.*\)$", f"## {VERSION} (2027-01-31)", log.read_text(), flags=re.MULTILINE))
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_nothing_is_blank_where_all_is_stated(stated):
    assert blanks(stated) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "wanted"),
    [
        ("SECURITY.md", "| where to report | stated", "| where to report | BLANK", "where to report"),
        ("CODE_OF_CONDUCT.md", "stated", "BLANK", "address"),
        ("CITATION.cff", "# stated: date-released", "# BLANK: date-released", "date-released"),
        ("pyproject.toml", "https://example.org/Issues", "", "Issues"),
        ("pyproject.toml", "https://example.org/Source", "http://example.org", "Source"),
        ("CHANGELOG.md", f"## {VERSION} (2027-01-31)", f"## {VERSION} (unreleased)", "the day of the release"),
    ],
)
def test_each_blank_is_found(stated, file, old, new, wanted):
    change(stated / file, old, new)
    (found,) = blanks(stated)
    assert found.file == file
    assert wanted in found.wanted
    assert str(found).startswith(file)


def test_a_file_that_is_gone_is_a_blank(stated):
    (stated / "SECURITY.md").unlink()
    assert [str(one) for one in blanks(stated)] == ["SECURITY.md: the file"]


def test_the_check_fails_while_a_blank_stands_and_for_another_tag(stated, monkeypatch, capsys):
    monkeypatch.setattr("tools.release.__main__.blanks", lambda: blanks(stated))
    assert main(["check", "--tag", f"v{VERSION}"]) == 0
    assert main(["check", "--tag", "v9.9.9"]) == 1
    assert f"the tag v{VERSION}" in capsys.readouterr().out
    change(stated / "SECURITY.md", "stated: an address", "BLANK: an address")
    assert main(["check"]) == 1
    assert "cannot be published: 1 blanks stand" in capsys.readouterr().out


# -- archives ------------------------------------------------------------------------------------------------------------

ABOUT = f"""Metadata-Version: 2.4
Name: dither
Version: {VERSION}
License-Expression: Apache-2.0
License-File: LICENSE

words
"""
INFO = f"dither-{VERSION}.dist-info"
IN_WHEEL = {**dict.fromkeys(archives.WHEEL_WANTED, ""), f"{INFO}/licenses/LICENSE": "", f"{INFO}/METADATA": ABOUT}
IN_SDIST = {**dict.fromkeys(archives.SDIST_WANTED, ""), "PKG-INFO": ABOUT}


def wheel(folder: Path, files: dict[str, str]) -> Path:
    path = folder / f"dither-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as opened:
        for name, text in files.items():
            opened.writestr(name, text)
    return path


def sdist(folder: Path, files: dict[str, str]) -> Path:
    path = folder / f"dither-{VERSION}.tar.gz"
    with tarfile.open(path, "w:gz") as opened:
        for name, text in files.items():
            held = tarfile.TarInfo(f"dither-{VERSION}/{name}")
            held.size = len(text.encode())
            opened.addfile(held, io.BytesIO(text.encode()))
    return path


def test_archives_that_hold_what_they_should(tmp_path):
    assert archives.faults(wheel(tmp_path, IN_WHEEL), VERSION) == []
    assert archives.faults(sdist(tmp_path, IN_SDIST), VERSION) == []


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"tests/test_x.py": ""}, "tests/test_x.py does not belong"),
        ({"dither/__pycache__/x.pyc": ""}, "__pycache__"),
        ({"dither/clinic.ledger": ""}, "clinic.ledger does not belong"),
        ({f"{INFO}/METADATA": ABOUT.replace(VERSION, "9.9")}, "Version is '9.9'"),
        ({f"{INFO}/METADATA": ABOUT.replace("words\n", "")}, "no description"),
        ({f"{INFO}/METADATA": ABOUT.replace("Apache-2.0", "MIT")}, "License-Expression is 'MIT'"),
    ],
)
def test_a_wheel_with_something_wrong(tmp_path, more, fault):
    (found,) = archives.faults(wheel(tmp_path, IN_WHEEL | more), VERSION)
    assert fault in found


@pytest.mark.parametrize("name", [*archives.WHEEL_WANTED, f"{INFO}/licenses/LICENSE"])
def test_a_wheel_that_lacks_something(tmp_path, name):
    rest = {one: text for one, text in IN_WHEEL.items() if one != name}
    assert [f"{name} is missing" in fault for fault in archives.faults(wheel(tmp_path, rest), VERSION)] == [True]


def test_an_sdist_with_something_wrong(tmp_path):
    rest = {one: text for one, text in IN_SDIST.items() if one != "LICENSE"}
    found = archives.faults(sdist(tmp_path, rest | {".venv/x": "", "a.key": ""}), VERSION)
    assert [re.search(r"LICENSE is missing|\.venv|a\.key", fault) is not None for fault in found] == [True] * 3


def test_builds_that_differ_are_told(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    one, two = wheel(first, IN_WHEEL), sdist(first, IN_SDIST)
    assert archives.differences([one, two], [Path(shutil.copy(path, second)) for path in (one, two)]) == []
    other = wheel(second, IN_WHEEL | {"dither/py.typed": "x"})
    assert archives.differences([one], [other]) == [f"{one.name}: two builds differ"]
    assert archives.differences([one, two], [one]) == [f"{two.name}: two builds differ"]


# -- the local index -------------------------------------------------------------------------------------------------------


def test_the_index_is_a_simple_repository(tmp_path):
    made = wheel(tmp_path, IN_WHEEL)
    local_index.write(tmp_path / "index", "Dither", [made])
    with local_index.served(tmp_path / "index") as address:
        assert address.startswith("http://127.0.0.1:")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{address}/simple/", timeout=30) as page:
            assert 'href="dither/"' in page.read().decode()
        with opener.open(f"{address}/simple/dither/", timeout=30) as page:
            assert f'href="{made.name}#sha256={archives.sha256(made)}"' in page.read().decode()
        with opener.open(f"{address}/simple/dither/{made.name}", timeout=30) as page:
            assert page.read() == made.read_bytes()
    assert local_index.normalized("A.b_-C") == "a-b-c"


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(SystemExit, match="is not empty"):
        rehearse(tmp_path)


def test_the_whole_rehearsal(tmp_path, every):
    if not every:
        pytest.skip("not run: a release is rehearsed with --all")
    pytest.importorskip("twine", reason="not run: the extra release")
    pytest.importorskip("cyclonedx_py", reason="not run: the extra release")
    said: list[str] = []
    made = rehearse(tmp_path / "dist", said.append)
    assert [path.name.removeprefix(f"dither-{VERSION}") for path in made] == [
        "-py3-none-any.whl", ".tar.gz", "SHA256SUMS", ".cdx.json",
    ]  # fmt: skip
    assert "the demo ran" in " ".join(said)
