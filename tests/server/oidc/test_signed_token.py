"""Tokens of the provider: every way to make one that is not, each refused; and every kind that is."""

from __future__ import annotations

import json

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from dither.server.core.oidc_facts import GroupRole, OidcFacts
from dither.server.oidc.key_set import read_keys
from dither.server.oidc.refusals import NobodyError, ProviderError
from dither.server.oidc.signed_token import ACCESS_TOKEN, ID_TOKEN, LONGEST, read_claims
from tests.server.oidc.signatures import ISSUER, NOW, b64, claims, jwk, private_key, token

KINDS = ("RS256", "ES256", "EdDSA")
FACTS = OidcFacts(ISSUER, "dither", (GroupRole("staff", "analyst"),), bearer=True)
KEYS = read_keys({"keys": [jwk(kind) for kind in KINDS]})


def read(text, facts=FACTS, keys=KEYS, now=NOW, kinds=ID_TOKEN):
    return read_claims(text, facts, lambda lookup: lookup(keys), now, kinds=kinds)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_provider_signed_is_read(kind):
    assert len(KEYS.keys) == 3
    assert read(token(claims(), kind))["sub"] == "ana"
    assert read(token(claims(), kind, header={"kid": ...}))["sub"] == "ana"  # there is one key for it
    assert read(token(claims(), kind, header={"typ": ...}))["sub"] == "ana"
    assert read(token(claims(aud=["x", "dither"], azp="dither"), kind))["sub"] == "ana"
    assert read(token(claims(azp="dither", nbf=NOW), kind), now=NOW + 299)["sub"] == "ana"


def public_bytes(kind):
    public = private_key(kind).public_key()
    yield public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    yield public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    yield json.dumps(jwk(kind)).encode()


def swapped(text, at, value):
    parts = text.split(".")
    parts[at] = value
    return ".".join(parts)


def forgeries():
    for kind in KINDS:
        mine = token(claims(), kind)
        for named in (
            "none",
            "None",
            "NONE",
            "nOnE",
            "",
            None,
            0,
            ["none"],
            "HS256",
            "RS1",
            "PS256",
            "RS512",
            "ES384",
            "ES256K",
        ):
            yield f"{kind} as {named}", token(claims(), kind, header={"alg": named})
            yield f"{kind} as {named}, unsigned", token(claims(), kind, header={"alg": named}, secret=b"")
        for number, public in enumerate(public_bytes(kind)):
            for named in ("HS256", kind):
                yield f"{named} with public key {number}", token(claims(), kind, header={"alg": named}, secret=public)
        yield f"{kind} of another key", token(claims(), kind, 1, header={"kid": f"{kind}-0"})
        yield f"{kind} of another key, unnamed", token(claims(), kind, 1, header={"kid": ...})
        yield f"{kind} of an unknown key", token(claims(), kind, 1)
        yield f"{kind} with its own key", token(claims(), kind, 1, header={"jwk": jwk(kind, 1)})
        for name in ("jku", "x5u"):
            header = {name: "https://attacker.example.org/keys", "kid": f"{kind}-0"}
            yield f"{kind} with {name}", token(claims(), kind, 1, header=header)
        yield f"{kind} with other claims", swapped(mine, 1, b64(json.dumps(claims(sub="bob")).encode()))
        yield f"{kind} without a signature", swapped(mine, 2, "")
        yield f"{kind} with half a signature", mine[:-40]
        yield f"{kind} with more", mine + "."
        yield f"{kind} padded", mine + "="
        yield f"{kind} in two lines", mine.replace(".", ".\n", 1)
        yield f"{kind} critical", token(claims(), kind, header={"crit": ["exp"]})
        yield f"{kind} critical and known", token(claims(), kind, header={"crit": ["kid"]})
        yield f"{kind} unencoded", token(claims(), kind, header={"b64": False, "crit": ["b64"]})
        yield f"{kind} by a key for another algorithm", token(claims(), kind, header={"alg": KINDS[KINDS.index(kind) - 1]})
        for kid in (
            "../../etc/passwd",
            "/dev/null",
            "' OR 1=1 --",
            "ES256-0\0",
            "http://attacker.example.org",
            "",
            0,
            [],
            {},
            None,
        ):
            yield f"{kind} with kid {kid!r}", token(claims(), kind, 1, header={"kid": kid})
        for typ in ("logout+jwt", "secevent+jwt", "at+jwt", 3, None):
            yield f"{kind} of type {typ}", token(claims(), kind, header={"typ": typ})
        yield f"{kind} about a session", token(claims(events={}), kind)
        yield f"{kind} that says nothing", token([], kind)
        yield f"{kind} that is no JSON", token(b"\xff", kind)
        yield f"{kind} that is deep", token(b"[" * 5000 + b"]" * 5000, kind)
        yield f"{kind} that is long", token(claims(more="x" * LONGEST), kind)
        yield f"{kind} with a long header", token(claims(), kind, header={"more": "x" * LONGEST})
    yield from {"empty": "", "dots": "..", "five parts": "a.b.c.d.e", "no text": "é.é.é", "surrogate": "\ud800.a.b"}.items()
    yield "a list", b64(b"[]") + ".e30.e30"
    yield "deep", b64(b"[" * 5000 + b"]" * 5000) + ".e30.e30"
    yield "a number too long", b64(b'{"alg": ' + b"1" * 5000 + b"}") + ".e30.e30"


FORGERIES = dict(forgeries())


def test_what_the_provider_did_not_sign_is_nobody():
    """No exception but one, and no name of a key is ever more than compared."""
    for name, text in FORGERIES.items():
        with pytest.raises(NobodyError):
            pytest.fail(f"{name} was read: {read(text)}")


WRONG = [
    {"iss": "https://login.example.org/"},
    {"iss": "https://LOGIN.example.org"},
    {"iss": "https://attacker.example.org"},
    {"iss": ...},
    {"iss": [ISSUER]},
    {"aud": "other"},
    {"aud": "dither2"},
    {"aud": ["other"], "azp": "dither"},
    {"aud": ["dither", "other"]},  # of several, and nobody says whose it is
    {"aud": ["dither", 3], "azp": "dither"},
    {"aud": {"dither": 1}},
    {"aud": []},
    {"aud": ...},
    {"azp": "other"},
    {"azp": None},
    {"exp": NOW - 61},
    {"exp": NOW - 60},
    {"exp": ...},
    {"exp": None},
    {"exp": True},
    {"exp": "2000000000"},
    {"exp": float("nan")},
    {"exp": float("inf")},
    {"exp": 10**400},
    {"iat": NOW + 61},
    {"iat": ...},
    {"iat": False},
    {"iat": -float("inf")},
    {"iat": NOW - 9 * 3600, "exp": NOW + 10**9},  # for ever, as the provider has it
    {"nbf": NOW + 61},
    {"nbf": "now"},
    {"nbf": None},
]


@pytest.mark.parametrize("kinds", [ID_TOKEN, ACCESS_TOKEN])
def test_what_is_signed_for_others_or_another_time_is_nobody(kinds):
    for changes in WRONG:
        with pytest.raises(NobodyError):
            pytest.fail(f"{changes}: {read(token(claims(**changes)), kinds=kinds)}")
    assert read(token(claims(exp=NOW - 59, iat=NOW + 60)), kinds=kinds)


def test_an_access_token_is_for_the_audience_and_no_login():
    facts = OidcFacts(ISSUER, "dither", FACTS.roles, audience="api")
    text = token(claims(aud="api", azp="dither"), header={"typ": "at+jwt"})
    assert read(text, facts, kinds=ACCESS_TOKEN)["sub"] == "ana"
    with pytest.raises(NobodyError):
        read(text, facts)
    with pytest.raises(NobodyError):
        read(token(claims(aud="api")), facts)
    with pytest.raises(NobodyError):
        read(token(claims()), facts, kinds=ACCESS_TOKEN)
    with pytest.raises(NobodyError):
        read(token(claims(aud="api", azp="other")), facts, kinds=ACCESS_TOKEN)


def test_a_token_that_names_no_key_where_there_are_two():
    two = read_keys({"keys": [jwk("ES256", 0), jwk("ES256", 1)]})
    for number in (0, 1):
        assert read(token(claims(), number=number), keys=two)
        with pytest.raises(NobodyError):
            read(token(claims(), number=number, header={"kid": ...}), keys=two)


def test_an_owner_may_allow_fewer_algorithms():
    facts = OidcFacts(ISSUER, "dither", FACTS.roles, algorithms=("ES256",))
    assert read(token(claims()), facts)
    for kind in ("RS256", "EdDSA"):
        with pytest.raises(NobodyError):
            read(token(claims(), kind), facts)


NO_KEYS = [
    {"kty": "oct", "k": b64(b"x" * 64)},
    {"kty": "oct", "k": b64(b"x" * 64), "alg": "ES256"},
    jwk("ES256", use="enc"),
    jwk("ES256", key_ops=["sign"]),
    jwk("ES256", key_ops="verify"),
    jwk("ES256", crv="P-384"),
    jwk("ES256", alg="RS256"),
    jwk("ES256", x="AAAA"),
    jwk("ES256", x=3),
    jwk("ES256", kid=3),
    jwk("ES256", kty=["EC"]),
    jwk("RS256", alg="none"),
    jwk("RS256", alg="HS256"),
    jwk("RS256", n=b64(b"\xff" * 128)),
    jwk("RS256", n=b64(bytes(128) + b"\xff" * 128)),  # 2048 bits, of which half are nothing
    jwk("RS256", n=b64(b"\xff" * 1100)),
    jwk("RS256", n="%"),
    jwk("RS256", n=None),
    jwk("EdDSA", crv="Ed448"),
    jwk("EdDSA", x=b64(b"x")),
    {},
    "ES256",
]


def test_a_key_that_is_none_is_passed_over():
    for stated in NO_KEYS:
        assert not read_keys({"keys": [stated]}).keys, stated
        assert len(read_keys({"keys": [stated, jwk("ES256")]}).keys) == 1
    assert len(read_keys({"keys": [jwk("ES256")] * 1000}).keys) == 100
    for document in ({}, {"keys": {}}, {"keys": None}):
        with pytest.raises(ProviderError):
            read_keys(document)


def test_a_private_part_that_is_published_is_not_taken():
    stated = jwk("ES256", d=b64(b"x" * 32), jku="https://attacker.example.org", x5u="https://attacker.example.org")
    assert "d" not in read_keys({"keys": [stated]}).keys[0].key.as_dict()
