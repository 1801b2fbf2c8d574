"""Addresses and tokens: what is refused, and where the token may not go."""

from __future__ import annotations

import copy
import datetime
import ipaddress
import pickle
import socket
import ssl
import traceback

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import dither
from dither.client import session
from dither.client.address import read_address
from dither.client.exchange import exchange
from dither.client.session import Session
from dither.errors import ArgumentError, DataError, DitherError, GatewayError, NumberError
from tests.client.stub import TOKEN, Said, Stub, problem, serving


def test_the_gateway_knows_who_asks(stub):
    gateway = dither.connect(stub.url, TOKEN)
    assert (gateway.name, gateway.role, gateway.datasets) == ("ana", "analyst", ("clinic",))
    assert {one.headers["Authorization"] for one in stub.heard} == {f"Bearer {TOKEN}"}
    assert gateway["clinic"].name == gateway.dataset().name == "clinic"
    assert list(gateway) == ["clinic"]


def test_an_address_with_too_much_behind_it_is_told(stub):
    with pytest.raises(GatewayError, match=r"no gateway at this address.*without /v1"):
        dither.connect(f"{stub.url}/v1", TOKEN)


def test_the_token_of_the_environment(stub, monkeypatch):
    with pytest.raises(ArgumentError, match="DITHER_TOKEN"):
        dither.connect(stub.url)
    monkeypatch.setenv("DITHER_TOKEN", TOKEN)
    assert dither.connect(stub.url).name == "ana"


@pytest.mark.parametrize("wrong", ["a b", "a\r\nX-Evil: 1", "ünï", "", "x" * 9000, 5, b"dth_abc_SECRETSECRET"])
def test_a_token_that_is_none_is_refused_and_not_repeated(stub, wrong):
    with pytest.raises(DitherError) as told:
        dither.connect(stub.url, wrong)
    assert "SECRET" not in str(told.value)
    assert "Evil" not in str(told.value)
    assert stub.heard == []


@pytest.mark.parametrize(
    "url",
    [
        *(
            "gateway",
            "ftp://127.0.0.1",
            "http://",
            "https://",
            "http://:80",
            "http://127.0.0.1:99999",
            "http://[::1",
            5,
            None,
        ),
        *("http://dth_abc_SECRET@127.0.0.1", "http://127.0.0.1/?token=dth_abc_SECRET", "http://127.0.0.1/#dth_abc_SECRET"),
        *("http://127.0.0.1\r\nHost: evil", "http://127.0.0.1\\@evil", "http://127.0.0.1 ", "http://exämple", "file:///x"),
    ],
)
def test_an_address_that_is_none_is_refused_and_not_repeated(url):
    with pytest.raises(DataError) as told:
        dither.connect(url, TOKEN)
    assert "SECRET" not in str(told.value)


CLEAR = [
    "http://gateway.example",
    "http://10.0.0.1:8765",
    "http://127.0.0.1.evil.example",
    "http://0x7f.1",
    "http://0.0.0.0",
]


@pytest.mark.parametrize("url", [*CLEAR, "http://[::]", "http://localhost.evil.example", "http://[::ffff:10.0.0.1]"])
def test_no_token_in_the_clear(url):
    with pytest.raises(DataError, match="in the clear"):
        dither.connect(url, TOKEN)
    assert read_address(url, cleartext=True).scheme == "http"


def test_loopback_and_folders():
    for url in ("http://localhost:1", "http://127.3.2.1:1", "http://[::1]:1", "HTTP://LOCALHOST:1"):
        assert read_address(url, cleartext=False).port == 1
    found = read_address("https://gateway.example/dither/", cleartext=False)
    assert (found.port, found.folder, str(found)) == (443, "/dither", "https://gateway.example:443/dither")
    assert str(read_address("http://[::1]/", cleartext=False)) == "http://[::1]:80"


def test_in_a_folder_of_a_proxy(stub):
    stub.replies["GET /folder/v1/me"] = stub.replies["GET /v1/me"]
    assert dither.connect(f"{stub.url}/folder/", TOKEN).name == "ana"


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "x", None, True])
def test_a_timeout_that_is_none(stub, timeout):
    with pytest.raises(NumberError):
        dither.connect(stub.url, TOKEN, timeout=timeout)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 300])
def test_a_redirect_is_refused_and_the_token_does_not_follow(stub, status):
    with serving(Stub()) as other:
        stub.replies["GET /v1/me"] = Said(status, {}, {"Location": f"{other.url}/v1/me"})
        with pytest.raises(GatewayError, match="redirects"):
            dither.connect(stub.url, TOKEN)
        assert other.heard == []
    assert len(stub.heard) == 1


def test_proxies_of_the_environment_get_nothing(stub, monkeypatch):
    with serving(Stub()) as other:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, other.url)
        assert dither.connect(stub.url, TOKEN).name == "ana"
        assert other.heard == []


def test_nobody_there_is_said_at_once(monkeypatch):
    tried = []
    monkeypatch.setattr(session, "exchange", lambda *given, **how: (tried.append(given), exchange(*given, **how))[1])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(GatewayError, match="nobody is there"):  # bound, and nobody listens
            dither.connect(url, TOKEN, timeout=1)
    assert len(tried) == 1


def test_the_token_is_in_no_message_repr_pickle_or_traceback(stub):
    gateway = dither.connect(stub.url, TOKEN)
    quote = gateway.quote("SELECT COUNT(*) AS n FROM visits", epsilon="0.5")
    for thing in (gateway, gateway.session, gateway.session.token, gateway["clinic"], quote):
        assert "SECRET" not in repr(thing) + str(thing) + format(thing)
        for write in (pickle.dumps, copy.copy, copy.deepcopy):
            if thing in (gateway.session.token,) or write is not copy.copy:
                with pytest.raises(DataError, match="connect in the other process"):
                    write(thing)
    for kind, status in (("unauthorized", 401), ("refused", 422), ("failed", 500), ("nothing", 418), ("busy", 503)):
        echo = dict.fromkeys(("detail", "where", "came", "why", "instead", "receipt", "error"), f"it is {TOKEN}!")
        stub.replies["GET /v1/me"] = problem(kind, status, {"Retry-After": "999999999"}, **echo)
        with pytest.raises(DitherError) as told:
            dither.connect(stub.url, TOKEN)
        whole = "".join(traceback.format_exception(told.value)) + str(vars(told.value))
        assert "SECRET" not in whole, kind


def test_a_session_is_shown_by_its_address(stub):
    assert repr(dither.connect(stub.url, TOKEN).session) == f"Session({stub.url})"
    assert "token" not in {name for name in vars(Session) if not name.startswith("_")}


def certificate(folder, name: str, host: str) -> tuple[str, str]:
    """Files of a certificate that vouches for itself, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / f"{name}.pem", folder / f"{name}.key"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    none = serialization.NoEncryption()
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, none))
    return str(files[0]), str(files[1])


def test_certificates_are_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(ssl, "_create_default_https_context", ssl._create_unverified_context)  # as some people do
    for name, host, trusted in (("right", "127.0.0.1", True), ("other", "127.0.0.2", False)):
        own, key = certificate(tmp_path, name, host)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(own, key)
        with serving(Stub(), context) as stub:
            with pytest.raises(GatewayError, match="not trusted"):
                dither.connect(stub.url, TOKEN)
            if trusted:
                assert dither.connect(stub.url, TOKEN, certificates=own).name == "ana"
                assert len(stub.heard) == 1
            else:
                with pytest.raises(GatewayError, match="not trusted"):
                    dither.connect(stub.url, TOKEN, certificates=own)
                assert stub.heard == []
            with pytest.raises(GatewayError):  # http to a port that speaks TLS
                dither.connect(stub.url.replace("https", "http"), TOKEN, timeout=0.2)
            with pytest.raises(DataError, match="no certificates"):
                dither.connect(stub.url, TOKEN, certificates=key)
    with serving(Stub()) as plain, pytest.raises(GatewayError, match="TLS"):
        dither.connect(plain.url.replace("http", "https"), TOKEN, timeout=5)
