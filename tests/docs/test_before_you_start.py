"""The page about CSV files, word for word: its file, its commands, its policy."""

from __future__ import annotations

import contextlib
import io
import shlex
import tomllib
from pathlib import Path

from typer.testing import CliRunner

from dither.cli.main import app
from tests.docs.snippets import as_pattern, blocks

PAGE = Path(__file__).parent.parent.parent / "docs" / "before-you-start.md"


def test_from_a_raw_file_to_an_answer_in_at_most_ten_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran, shown, namespace = 0, 0, {"__name__": "page"}
    for kind, text in blocks(PAGE):
        if kind == "python" and "seeded" not in text:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(text, namespace)
        elif kind == "text" and not text.startswith("$ "):
            drafted = Path("draft.toml").read_text(encoding="utf-8").splitlines()
            for line in text.splitlines():
                assert line == "..." or any(as_pattern(line).fullmatch(other) for other in drafted), line
                shown += 1
        elif kind in ("text", "console"):
            for part in text.removeprefix("$ ").split("\n$ "):
                command, *promised = part.splitlines()
                words = shlex.split(command)
                assert words[0] == "dither"
                words, given = (words[:-2], Path(words[-1]).read_text(encoding="utf-8")) if "<" in words else (words, None)
                result = CliRunner().invoke(app, words[1:], input=given)
                assert result.exit_code == ("draft.toml" in words and "check" in words), result.output
                assert all(line in result.output for line in promised), result.output
                ran += 1
    assert ran == 8  # one of them by questions
    assert shown == 14
    wizard, policy = (tomllib.loads(Path(name).read_text(encoding="utf-8")) for name in ("wizard.toml", "policy.toml"))
    assert wizard["tables"] == policy["tables"]  # what questions led to is what is filled in
