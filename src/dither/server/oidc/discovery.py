"""Discovery: where the provider has its parts (OpenID Connect Discovery 1.0), as its document says."""

from __future__ import annotations

from dataclasses import dataclass

from dither.server.oidc.provider_request import is_plain, must_be_safe, request_json
from dither.server.oidc.refusals import ProviderError

PATH = "/.well-known/openid-configuration"


@dataclass(frozen=True)
class Endpoints:
    """The addresses of a provider."""

    authorization: str
    token: str
    keys: str
    secret_in_form: bool  # whether a client tells its secret in the form and not in a header
    names_itself: bool  # whether it says with each login who it is (RFC 9207)


def discover(issuer: str) -> Endpoints:
    """What the document of an issuer says; it must be of that issuer, sign for sign.

    Raises:
        ProviderError: there is no such document, or one of another.
    """
    plain = is_plain(issuer)
    found = request_json(f"{issuer.rstrip('/')}{PATH}", plain=plain)
    if found.get("issuer") != issuer:
        raise ProviderError
    methods = found.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    if not isinstance(methods, list):
        raise ProviderError
    return Endpoints(
        authorization=must_be_safe(found.get("authorization_endpoint"), plain=plain),
        token=must_be_safe(found.get("token_endpoint"), plain=plain),
        keys=must_be_safe(found.get("jwks_uri"), plain=plain),
        secret_in_form="client_secret_basic" not in methods and "client_secret_post" in methods,
        names_itself=found.get("authorization_response_iss_parameter_supported") is True,
    )
