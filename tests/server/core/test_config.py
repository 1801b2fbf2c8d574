"""The configuration of a gateway: what it holds, and every refusal with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from dither.errors import PolicyError
from dither.server.core.config import GatewayDataset, Limits, read_gateway

SMALL = 'version = 1\ndatabase = "gateway.db"\n'
CLINIC = '[datasets.clinic]\npolicy = "policy.toml"\n'


@pytest.fixture
def folder(tmp_path) -> Path:
    for name in ("policy.toml", "cert.pem", "key.pem"):
        (tmp_path / name).write_text("")
    return tmp_path


def read(folder: Path, text: str):
    (folder / "gateway.toml").write_text(text)
    return read_gateway(folder / "gateway.toml")


def test_the_least_that_can_be_said(folder):
    found = read(folder, SMALL + CLINIC)
    assert found.datasets == (GatewayDataset("clinic", folder / "policy.toml"),)
    assert found.database == str(folder / "gateway.db")
    assert (found.host, found.port, found.metrics_port, found.workers) == ("127.0.0.1", 8765, None, 2)
    assert found.limits == Limits()
    assert found.oidc is None
    assert not found.proxy
    assert found.dataset("clinic") is found.datasets[0]
    assert found.dataset("CLINIC") is None


def test_all_that_can_be_said(folder):
    found = read(
        folder,
        SMALL
        + """
[server]
host = "0.0.0.0"
port = 0
metrics_port = 9000
workers = 4
certificate = "cert.pem"
certificate_key = "key.pem"
[limits]
quotes_per_second = 5
queries_per_second = 0.5
under_way = 1
queue = 7
sql_bytes = 1000
body_bytes = 2000
cells = 10
seconds = 1.5
memory_mb = 100
wrong_tokens_per_minute = 2
[datasets.visits-2026]
policy = "policy.toml"
answers = "own"
slots = [0.25, 1, 5]
progress = true
[oidc]
issuer = "https://login.example.org"
client_id = "dither"
scopes = ["openid", "groups"]
datasets = ["visits-2026"]
[oidc.roles]
staff = "analyst"
""",
    )
    assert found.limits == Limits(5.0, 0.5, 1, 7, 1000, 2000, 10, 1.5, 100, 2)
    assert found.datasets[0].slots == (0.25, 1.0, 5.0)
    assert found.datasets[0].answers == "own"
    assert found.datasets[0].progress
    assert (found.certificate, found.certificate_key) == (folder / "cert.pem", folder / "key.pem")
    assert found.oidc is not None
    assert found.oidc.roles == (("staff", "analyst"),)
    assert found.oidc.name_claim == "sub"


def test_a_schema_of_its_own_and_no_password_in_words(folder):
    text = 'version = 1\ndatabase = "postgresql://ana:geheim@host/db{}"\n' + CLINIC
    assert read(folder, text.format("")).database.endswith("/db#gateway")
    assert read(folder, text.format("#own")).database.endswith("/db#own")
    assert "geheim" not in repr(read(folder, text.format("")))


REFUSED = {
    "": "version",
    "version = 2": "version",
    "version = true": "version",
    SMALL: "datasets",
    SMALL + "datasets = 3": "datasets",
    SMALL + "datasets.clinic = 3": "datasets.clinic",
    SMALL + "[datasets.Clinic]\npolicy = 'policy.toml'": "datasets.Clinic",
    SMALL + "[datasets.'*']\npolicy = 'policy.toml'": "datasets.*",
    SMALL + "[datasets.'a/b']\npolicy = 'policy.toml'": "datasets.a/b",
    SMALL + "[datasets.clinic]": "datasets.clinic.policy",
    SMALL + "[datasets.clinic]\npolicy = 'nowhere.toml'": "datasets.clinic.policy",
    SMALL + "[datasets.clinic]\npolicy = '.'": "datasets.clinic.policy",
    SMALL + "[datasets.clinic]\npolicy = 'a\\u0000b'".replace("'a\\u0000b'", '"a\\u0000b"'): "datasets.clinic.policy",
    SMALL + CLINIC + "answers = 'all'": "datasets.clinic.answers",
    SMALL + CLINIC + "answers = []": "datasets.clinic.answers",
    SMALL + CLINIC + "slots = 5": "datasets.clinic.slots",
    SMALL + CLINIC + "slots = [1, 1]": "datasets.clinic.slots",
    SMALL + CLINIC + "slots = [0]": "datasets.clinic.slots",
    SMALL + CLINIC + "slots = [nan]": "datasets.clinic.slots",
    SMALL + CLINIC + "progress = 1": "datasets.clinic.progress",
    SMALL + CLINIC + "slot = [1]": "datasets.clinic.slot",
    SMALL + "databases = 1\n" + CLINIC: "databases",
    "version = 1\n" + CLINIC: "database",
    "version = 1\ndatabase = 3\n" + CLINIC: "database",
    SMALL + CLINIC + "[limits]\nqueues = 3": "limits.queues",
    SMALL + CLINIC + "[limits]\nqueue = 0": "limits.queue",
    SMALL + CLINIC + "[limits]\nqueue = 2.5": "limits.queue",
    SMALL + CLINIC + "[limits]\nqueue = true": "limits.queue",
    SMALL + CLINIC + "[limits]\nseconds = inf": "limits.seconds",
    SMALL + CLINIC + "[limits]\nseconds = nan": "limits.seconds",
    SMALL + CLINIC + "[limits]\nseconds = -1": "limits.seconds",
    SMALL + CLINIC + f"[limits]\nseconds = 1{400 * '0'}": "limits.seconds",
    SMALL + CLINIC + "[limits]\nseconds = '60'": "limits.seconds",
    SMALL + CLINIC + "[limits]\nbody_bytes = 10": "limits.body_bytes",
    SMALL + "limits = 3\n" + CLINIC: "limits",
    SMALL + CLINIC + "[server]\nport = 65536": "server.port",
    SMALL + CLINIC + "[server]\nport = -1": "server.port",
    SMALL + CLINIC + "[server]\nmetrics_port = 8765": "server.metrics_port",
    SMALL + CLINIC + "[server]\nworkers = 0": "server.workers",
    SMALL + CLINIC + "[server]\ncertificate = 'cert.pem'": "server.certificate",
    SMALL + CLINIC + "[server]\ncertificate = 'none.pem'": "server.certificate",
    SMALL + CLINIC + "[server]\nhost = ''": "server.host",
    SMALL + CLINIC + "[server]\nhost = '0.0.0.0'": "server.host",
    SMALL + CLINIC + "[server]\nhost = 'gateway.example.org'": "server.host",
    SMALL + CLINIC + "[server]\nproxy = 'yes'": "server.proxy",
    SMALL + CLINIC + "[oidc]\nissuer = 'http://login.example.org'": "oidc.issuer",
    SMALL + CLINIC + "[oidc]\nissuer = 'https://l'": "oidc.roles",
    SMALL + CLINIC + "[oidc]\nissuer = 'https://l'\nroles.staff = 'king'": "oidc.roles.staff",
    SMALL + CLINIC + "[oidc]\nissuer = 'https://l'\nroles.staff = 'owner'": "oidc.client_id",
    "version = ": "gateway",
}


@pytest.mark.parametrize("text", REFUSED, ids=[f"{at}-{where}" for at, where in enumerate(REFUSED.values())])
def test_what_no_gateway_can_keep_is_refused_with_its_place(folder, text):
    with pytest.raises(PolicyError) as told:
        read(folder, text)
    assert told.value.where == REFUSED[text]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "::1", "localhost"])
def test_loopback_needs_no_certificate(folder, host):
    assert read(folder, SMALL + CLINIC + f"[server]\nhost = '{host}'").host == host


@pytest.mark.parametrize("word", ["proxy", "plain_http"])
def test_an_owner_may_say_that_clear_text_is_meant(folder, word):
    assert read(folder, SMALL + CLINIC + f"[server]\nhost = '0.0.0.0'\n{word} = true").host == "0.0.0.0"


def test_no_file_and_no_text(folder):
    with pytest.raises(PolicyError, match="cannot be read"):
        read_gateway(folder / "absent.toml")
    (folder / "bytes.toml").write_bytes(b"\xff\xfe\x00v")
    with pytest.raises(PolicyError):
        read_gateway(folder / "bytes.toml")
    (folder / "other.toml").write_bytes(b"\x80\x81")
    with pytest.raises(PolicyError, match="nor any text"):
        read_gateway(folder / "other.toml")


def test_the_page_shows_the_limits_that_hold(folder):
    page = Path(__file__).parents[3] / "docs" / "tokens.md"
    text = page.read_text().partition("```toml\n")[2].partition("```")[0]
    found = read(folder, text)
    assert found.limits == Limits()
    assert (found.host, found.port, found.workers) == ("127.0.0.1", 8765, 2)
