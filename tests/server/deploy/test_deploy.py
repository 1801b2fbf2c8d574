"""What stands in `deploy/`: read, linted where there is a linter, and run as far as it runs without Docker."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

import dither
from dither.server.core.config import Limits, read_gateway
from tests.ledger.servers import postgres

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
IMAGES = re.compile(r"(python|postgres|dither-gateway)(:[\w.-]+)?")  # official ones by their names, without a host


def instructions() -> list[tuple[str, str]]:
    """The lines of the Dockerfile: the word, and what follows it."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]  # type: ignore[misc]


def last_stage() -> dict[str, str]:
    found = instructions()
    last = max(at for at, (word, _) in enumerate(found) if word == "FROM")
    return dict(found[last:])


def test_the_image_is_pinned_and_has_no_root():
    found = instructions()
    for word, rest in found:
        assert word in {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}
        if word == "FROM":
            name, tag = rest.split()[0].split(":")
            assert IMAGES.fullmatch(name)
            assert re.fullmatch(r"3\.\d+-slim-\w+", tag)
        assert "://" not in rest.replace("http://127.0.0.1:8765/health", ""), rest
        if word == "COPY" and "--from" not in rest:
            assert all((ROOT / source).exists() for source in rest.split()[:-1])
    stage = last_stage()
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", stage["USER"])
    assert "/health" in stage["HEALTHCHECK"]
    assert stage["ENTRYPOINT"] == '["dither"]'
    assert stage["CMD"] == '["serve", "--config", "/config/gateway.toml"]'
    words = [word for word, _ in found]
    assert words.index("USER") > max(at for at, word in enumerate(words) if word in ("RUN", "COPY"))
    extras = re.search(r"\.\[([\w,-]+)\]", (DEPLOY / "Dockerfile").read_text())
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras is not None
    assert set(extras[1].split(",")) == {"postgres", "server", "server-oidc"} <= set(known)


def test_nothing_but_sources_gets_into_the_image():
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert next(line for line in lines if not line.startswith("#")) == "*"
    taken = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        source for word, rest in instructions() if word == "COPY" and "--from" not in rest for source in rest.split()[:-1]
    }
    assert taken == copied


def services() -> dict[str, dict[str, object]]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]


KNOWN = {
    *("image", "build", "entrypoint", "environment", "ports", "volumes", "networks", "depends_on", "user", "read_only"),
    *(
        "tmpfs",
        "cap_drop",
        "cap_add",
        "security_opt",
        "pids_limit",
        "mem_limit",
        "stop_grace_period",
        "restart",
        "healthcheck",
    ),
}


def test_services_have_no_more_than_they_need():
    whole = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert set(whole) == {"name", "services", "networks", "volumes"}
    for name, facts in whole["services"].items():
        assert set(facts) <= KNOWN, "a word that nobody has looked at"
        assert IMAGES.fullmatch(facts["image"])
        assert "no-new-privileges:true" in facts["security_opt"]
        for volume in facts["volumes"]:
            source = volume.split(":")[0]
            assert source == "." or source in whole["volumes"]
        assert set(facts["networks"]) <= set(whole["networks"])
        for other, how in facts.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert "healthcheck" in whole["services"][other]
            else:
                assert (how["condition"], whole["services"][other]["restart"]) == ("service_completed_successfully", "no")
        if name != "database":
            assert facts["read_only"] is True
            assert facts["cap_drop"] == ["ALL"]
        for port in facts.get("ports", []):
            assert port.startswith("127.0.0.1:"), "reachable from other machines"
        for value in facts.get("environment", {}).values():
            assert "password" not in str(value).lower() or str(value).startswith("${DITHER_DATABASE_PASSWORD:?")
    assert whole["networks"]["inside"] == {"internal": True}
    gateway = whole["services"]["gateway"]
    assert "user" not in gateway, "that of the image, who is not root"
    assert "cap_add" not in gateway
    assert {"data:/data:ro", "config:/config:ro"} <= set(gateway["volumes"])
    assert "ports" not in whole["services"]["database"]


def unit() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (DEPLOY / "dither-gateway.service").read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            found.setdefault(name, []).append(value)
    return found


def test_the_service_is_kept_in():
    found = unit()
    for name in (
        *("NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome", "ProtectKernelTunables", "ProtectControlGroups"),
        *("ProtectKernelModules", "ProtectKernelLogs", "ProtectClock", "RestrictSUIDSGID", "RestrictNamespaces"),
        *("LockPersonality", "RestrictRealtime", "DynamicUser"),
    ):
        assert found[name] == ["yes"], name
    assert found["ProtectSystem"] == ["strict"]
    assert found["CapabilityBoundingSet"] == [""]
    assert found["LimitCORE"] == ["0"], "a dump of a worker holds rows"
    assert found["ExecStart"] == ["/opt/dither/bin/dither serve --config /etc/dither/gateway.toml"]
    assert found["SystemCallFilter"][-1] == "setrlimit prlimit64", "workers limit their own memory"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_understands_the_unit(tmp_path):
    program = tmp_path / "dither"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    text = (DEPLOY / "dither-gateway.service").read_text().replace("/opt/dither/bin/dither", str(program))
    (tmp_path / "dither-gateway.service").write_text(text)
    made = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "dither-gateway.service")], capture_output=True, text=True, timeout=60
    )
    mine = [line for line in made.stderr.splitlines() if "dither-gateway" in line]  # other units are not ours
    assert mine == []


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="no hadolint here")
def test_hadolint_has_nothing_to_say():
    made = subprocess.run(["hadolint", str(DEPLOY / "Dockerfile")], capture_output=True, text=True, timeout=60)
    assert (made.returncode, made.stdout) == (0, "")


def test_the_example_is_a_configuration_and_states_the_limits_as_they_are(tmp_path):
    shutil.copy(DEPLOY / "gateway.toml", tmp_path)
    (tmp_path / "policy.toml").write_text("version = 1\n")
    found = read_gateway(tmp_path / "gateway.toml")
    assert found.limits == Limits()
    stated = tomllib.loads((DEPLOY / "gateway.toml").read_text())["limits"]
    assert set(stated) == {one.name for one in fields(Limits)}
    memory = services()["gateway"]["mem_limit"]
    assert int(str(memory).removesuffix("g")) * 1024 > found.workers * found.limits.memory_mb


def test_the_clinic_is_made_once_in_postgresql(tmp_path):
    """`clinic.sh`, as the service of that name runs it."""
    for name in ("data", "config", "home", "bin", "deploy"):
        (tmp_path / name).mkdir()
    for name in ("clinic.sh", "gateway.toml"):
        shutil.copy(DEPLOY / name, tmp_path / "deploy")
    program = tmp_path / "bin" / "dither"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m dither "$@"\n')
    program.chmod(0o755)
    places = {"DATA": str(tmp_path / "data"), "CONFIG": str(tmp_path / "config"), "DITHER_HOME": str(tmp_path / "home")}
    with postgres() as server:
        environment = (
            os.environ | places | {"DITHER_LEDGER": server.get_uri(), "PATH": f"{program.parent}:{os.environ['PATH']}"}
        )
        # Nobody is root here, who would give the files away.
        (tmp_path / "bin" / "id").write_text("#!/bin/sh\necho 1000\n")
        (tmp_path / "bin" / "id").chmod(0o755)

        def run() -> None:
            command = ["sh", str(tmp_path / "deploy" / "clinic.sh")]
            made = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
            assert made.returncode == 0, made.stderr

        run()
        policy = (tmp_path / "config" / "policy.toml").read_text()
        (tmp_path / "config" / "policy.toml").rename(tmp_path / "config" / "policy.new")
        run()  # as if it had been stopped in between
        run()
        assert (tmp_path / "config" / "policy.toml").read_text() == policy
        found = read_gateway(tmp_path / "config" / "gateway.toml")
        assert found.database == f"{server.get_uri()}#gateway"
        assert [one.name for one in found.datasets] == ["clinic"]
        made = subprocess.run(
            [str(program), "quote", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1", "--policy", "policy.toml"],
            cwd=tmp_path / "config", env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        assert "add/remove one person" in made.stdout
    assert str(tmp_path / "data" / "visits.parquet") in policy
    assert dither.__file__.startswith(str(ROOT)), "the sources of this checkout"
