"""The configuration of a gateway: what it holds, and every refusal with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from dither.errors import PolicyError
from dither.server.core.config import GatewayDataset, Limits, read_gateway
from dither.server.core.config_values import StatedFolder
from dither.server.core.oidc_facts import GroupRole, OidcFacts

SMALL = 'version = 1\ndatabase = "gateway.db"\n'
CLINIC = '[datasets.clinic]\npolicy = "policy.toml"\n'
OIDC = "[oidc]\nissuer = 'https://l'\nclient_id = 'dither'\nroles.staff = 'analyst'\n"


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
seconds = 1.5
memory_mb = 100
wrong_tokens_per_minute = 2
[datasets.visits-2026]
policy = "policy.toml"
answers = "own"
slots = [0.25, 1, 5]
[oidc]
issuer = "https://login.example.org"
client_id = "dither"
client_secret_file = "key.pem"
address = "https://gateway.example.org/"
scopes = ["openid", "groups"]
datasets = ["visits-2026"]
name_claim = "preferred_username"
name_prefix = ""
groups_claim = "realm_access.roles"
audience = "dither-api"
algorithms = ["ES256"]
leeway = 0
token_hours = 1
bearer = true
[oidc.roles]
staff = "analyst"
audit = { role = "auditor", datasets = ["*"] }
""",
    )
    assert found.limits == Limits(5.0, 0.5, 1, 7, 1000, 2000, 1.5, 100, 2)
    assert found.datasets[0].slots == (0.25, 1.0, 5.0)
    assert found.datasets[0].answers == "own"
    assert (found.certificate, found.certificate_key) == (folder / "cert.pem", folder / "key.pem")
    assert found.oidc == OidcFacts(
        issuer="https://login.example.org",
        client_id="dither",
        roles=(GroupRole("staff", "analyst", ("visits-2026",)), GroupRole("audit", "auditor", ("*",))),
        address="https://gateway.example.org",
        name_claim="preferred_username",
        name_prefix="",
        groups_claim="realm_access.roles",
        scopes=("openid", "groups"),
        audience="dither-api",
        algorithms=("ES256",),
        leeway=0,
        token_hours=1,
        bearer=True,
        client_secret_file=folder / "key.pem",
    )


def test_the_folder_of_new_data_is_relative_to_the_file(folder):
    (folder / "incoming").mkdir()
    assert read(folder, SMALL + CLINIC).new_data is None
    found = read(folder, SMALL + CLINIC + "[server]\nnew_data = 'incoming'").new_data
    assert found == StatedFolder(folder / "incoming", "incoming")


def test_the_secret_of_a_client_is_read_where_it_is(folder, monkeypatch):
    """Not with the configuration, which other commands read too; and in no text about it."""
    (folder / "key.pem").write_text("geheim\n")
    facts = read(folder, SMALL + CLINIC + OIDC + "client_secret_file = 'key.pem'").oidc
    assert (facts.client_secret(), "geheim" in repr(facts)) == ("geheim", False)
    assert facts.address == "http://127.0.0.1:8765"
    named = read(folder, SMALL + CLINIC + OIDC + "client_secret_env = 'SOME_SECRET'").oidc
    monkeypatch.setenv("SOME_SECRET", "geheim")
    assert named.client_secret() == "geheim"
    assert read(folder, SMALL + CLINIC + OIDC).oidc.client_secret() is None
    for text in ("", "two\nlines", "x" * 5000):
        (folder / "key.pem").write_text(text)
        monkeypatch.setenv("SOME_SECRET", text)
        for one in (facts, named):
            with pytest.raises(PolicyError, match="no secret") as told:
                one.client_secret()
            assert "two" not in str(told.value)
    monkeypatch.delenv("SOME_SECRET")
    with pytest.raises(PolicyError):
        named.client_secret()


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
    SMALL + CLINIC + "[server]\nnew_data = 'nowhere'": "server.new_data",
    SMALL + CLINIC + "[server]\nnew_data = 'cert.pem'": "server.new_data",
    SMALL + CLINIC + "[server]\nnew_data = true": "server.new_data",
    SMALL + CLINIC + f"[server]\nnew_data = '{'x' * 5000}'": "server.new_data",
    SMALL + CLINIC + "[server]\nhost = ''": "server.host",
    SMALL + CLINIC + "[server]\nhost = '0.0.0.0'": "server.host",
    SMALL + CLINIC + "[server]\nhost = 'gateway.example.org'": "server.host",
    SMALL + CLINIC + "[server]\nproxy = 'yes'": "server.proxy",
    SMALL + CLINIC + "[oidc]\nissuer = 'http://login.example.org'": "oidc.issuer",
    SMALL + CLINIC + "[oidc]\nissuer = 'https://l'": "oidc.roles",
    SMALL + CLINIC + "[oidc]\nissuer = 'https://l'\nroles.staff = 'king'": "oidc.roles.staff",
    SMALL + CLINIC + "[oidc]\nissuer = 'https://l'\nroles.staff = 'owner'": "oidc.client_id",
    SMALL + CLINIC + "[oidc]\nissuer = 'https://a:b@l'": "oidc.issuer",
    SMALL + CLINIC + "[oidc]\nissuer = 'https://l?x=1'": "oidc.issuer",
    SMALL + CLINIC + "[oidc]\nissuer = 'https://l:port'": "oidc.issuer",
    SMALL + CLINIC + "[oidc]\nissuer = 'http://127.0.0.1.example.org'": "oidc.issuer",
    SMALL + CLINIC + OIDC + "client_secret = 'geheim'": "oidc.client_secret",
    SMALL + CLINIC + OIDC + "client_secret_file = 'nowhere'": "oidc.client_secret_file",
    SMALL + CLINIC + OIDC + "client_secret_file = 'key.pem'\nclient_secret_env = 'A'": "oidc.client_secret_env",
    SMALL + CLINIC + OIDC + "scopes = ['profile']": "oidc.scopes",
    SMALL + CLINIC + OIDC + "algorithms = ['none']": "oidc.algorithms",
    SMALL + CLINIC + OIDC + "algorithms = ['HS256']": "oidc.algorithms",
    SMALL + CLINIC + OIDC + "algorithms = []": "oidc.algorithms",
    SMALL + CLINIC + OIDC + "leeway = 301": "oidc.leeway",
    SMALL + CLINIC + OIDC + "token_hours = 0": "oidc.token_hours",
    SMALL + CLINIC + OIDC + "bearer = 'yes'": "oidc.bearer",
    SMALL + CLINIC + OIDC + "name_claim = 'nickname'": "oidc.name_claim",
    SMALL + CLINIC + OIDC + 'name_prefix = "a\\n"': "oidc.name_prefix",
    SMALL + CLINIC + OIDC + "datasets = ['klinic']": "oidc.datasets",
    SMALL + CLINIC + OIDC + "roles.audit = { role = 'auditor', datasets = ['klinic'] }": "oidc.roles.audit.datasets",
    SMALL + CLINIC + OIDC + "roles.audit = { role = 'king' }": "oidc.roles.audit",
    SMALL + CLINIC + OIDC + "roles.audit = { rôle = 'auditor' }".replace("rôle", "rule"): "oidc.roles.audit.rule",
    SMALL + CLINIC + OIDC + "address = 'http://gateway.example.org'": "oidc.address",
    SMALL + CLINIC + "[server]\nport = 0\n" + OIDC: "oidc.address",
    SMALL + CLINIC + "[server]\nhost = '0.0.0.0'\nproxy = true\n" + OIDC: "oidc.address",
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
