"""Requests to the provider: where they may go, how large and how slow a reply may be."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from dither.server.oidc.discovery import discover
from dither.server.oidc.provider_request import BYTES, must_be_safe, request_json
from dither.server.oidc.refusals import CodeRefusedError, ProviderError
from tests.server.oidc.providers import hang_up, reply, serving
from tests.server.oidc.signatures import private_key

DOCUMENT = "/.well-known/openid-configuration"
UNSAFE = [
    "http://login.example.org", "http://127.0.0.1.example.org", "http://127.0.0.2", "ftp://localhost", "file:///etc/passwd",
    "//x", "https://", "https://a:b@x", "https://@x", "https://x#y", "https://x:99999", "https://x:a", "https://x y",
    "https://x\n", "https://x\\@y", "https://é", "https://[x", "javascript:alert(1)", "", None, 3, ["https://x"],
]  # fmt: skip


@pytest.mark.parametrize("url", UNSAFE, ids=ascii)
def test_an_address_that_is_not_safe(url):
    for plain in (False, True):
        with pytest.raises(ProviderError):
            must_be_safe(url, plain=plain)


def test_plain_http_is_for_this_machine_and_where_the_issuer_has_it():
    for host in ("localhost", "127.0.0.1:80", "[::1]"):
        assert must_be_safe(f"http://{host}/x", plain=True)
        with pytest.raises(ProviderError):
            must_be_safe(f"http://{host}/x")
    assert must_be_safe("https://login.example.org/a?b=c")


def test_what_a_provider_says_of_itself(provider):
    found = discover(provider.issuer)
    assert found.token == f"{provider.issuer}/token"
    assert (found.secret_in_form, found.names_itself) == (False, False)


WRONG = [
    {"issuer": "https://other.example.org"}, {"issuer": None}, {"authorization_endpoint": "http://other.example.org"},
    {"token_endpoint": None}, {"token_endpoint": "file:///etc/passwd"}, {"jwks_uri": ["x"]}, {"jwks_uri": "http://192.0.2.1/"},
    {"token_endpoint_auth_methods_supported": "client_secret_post"},
]  # fmt: skip


@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_a_document_of_another_or_with_unsafe_parts(provider, changes):
    provider.document |= changes
    with pytest.raises(ProviderError):
        discover(provider.issuer)


def test_an_issuer_is_the_same_sign_for_sign(provider):
    with pytest.raises(ProviderError):
        discover(provider.issuer + "/")
    provider.document["issuer"] += "/"
    with pytest.raises(ProviderError):
        discover(provider.issuer)
    assert discover(provider.issuer + "/")


def drip(handler):
    """For ever, a byte at a time, for as long as somebody listens."""
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    pause = threading.Event()
    try:
        while not pause.wait(0.01):
            handler.wfile.write(b" ")
    except OSError:
        pass


def drip_head(handler):
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    pause = threading.Event()
    try:
        while not pause.wait(0.01):
            handler.wfile.write(b"x")
    except OSError:
        pass


REPLIES = {
    "hangs up": hang_up,
    "redirect": lambda handler: reply(302, {}, Location=f"http://127.0.0.1:{handler.server.server_port}/keys")(handler),
    "no content": reply(204, b""),
    "error": reply(500, {}),
    "a client that is not known": reply(401, {"error": "invalid_client"}),
    "no JSON": reply(200, b"<html>"),
    "a list": reply(200, []),
    "deep": reply(200, b"[" * 100_000),
    "a long number": reply(200, b'{"a": ' + b"1" * 10_000 + b"}"),
    "no text": reply(200, b"\xff\xff\xff"),
    "too long": reply(200, b"{}" + b" " * BYTES),
    "cut": reply(200, b"{", **{"Content-Length": "1000", "Connection": "close"}),
    "drip": drip,
    "drip of the head": drip_head,
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_that_is_none(provider, name):
    provider.replies[DOCUMENT] = REPLIES[name]
    with pytest.raises(ProviderError) as told:
        request_json(provider.issuer + DOCUMENT, plain=True, seconds=0.3 if "drip" in name else 5)
    assert not isinstance(told.value, CodeRefusedError)
    assert not told.value.args  # its text would hold what came
    assert provider.count == {DOCUMENT: 1}  # no redirect was followed


def test_nobody_there():
    with pytest.raises(ProviderError):
        request_json("http://127.0.0.1:1/", plain=True)


def test_who_speaks_no_tls_is_not_the_provider(provider):
    with pytest.raises(ProviderError):
        request_json(provider.issuer.replace("http:", "https:"), plain=False)


def certificate(folder, name):
    """A certificate for a name, signed by itself, with its key in one file."""
    key = private_key("ES256")
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    start = datetime(2020, 1, 1, tzinfo=UTC)
    made = x509.CertificateBuilder(subject, subject, key.public_key(), 1, start, start + timedelta(days=36_500))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    uses = ["digital_signature", "key_cert_sign"]
    others = ["content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign"]
    usage = dict.fromkeys(uses, True) | dict.fromkeys([*others, "encipher_only", "decipher_only"], False)
    made = made.add_extension(x509.KeyUsage(**usage), critical=True)
    told = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path = folder / f"{name}.pem"
    path.write_bytes(made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM) + told)
    return path


def test_a_certificate_is_of_the_name_and_of_somebody_whom_the_machine_trusts(tmp_path, monkeypatch):
    for name in ("localhost", "elsewhere.example.org"):
        path = certificate(tmp_path, name)
        with serving(path) as provider:
            url = f"https://localhost:{provider.port}{DOCUMENT}"
            monkeypatch.delenv("SSL_CERT_FILE", raising=False)
            with pytest.raises(ProviderError):
                request_json(url, plain=False)
            assert not provider.count
            monkeypatch.setenv("SSL_CERT_FILE", str(path))
            if name == "localhost":
                assert request_json(url, plain=False)["issuer"] == provider.issuer
            else:
                with pytest.raises(ProviderError):
                    request_json(url, plain=False)
