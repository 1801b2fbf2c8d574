"""The authorization code flow with PKCE (RFC 6749, RFC 7636, OpenID Connect Core 3.1), bound to one browser.

A login begins with a random text that the browser keeps as a cookie. State, nonce and verifier are hashes of it, so the
gateway keeps nothing, and the callback may reach another gateway than the one where the login began.

Theorem. A callback gives a person only if the provider signed, for a login with the nonce that belongs to the cookie of the
browser that sends it, that it is this person; and one state gives at most one person in a process. So nobody is logged in
by a code, a state or a token of another browser's login, and nobody who steals a code can use it.

    c        the cookie: 256 random bits and when it ends
    H(w, c)  SHA-256 of a word and the cookie; state = H("state", c), nonce and verifier likewise

Proof. `finish` goes on only if the state is H("state", c), and gives the person of an ID token only if its nonce is
H("nonce", c). The provider signs that nonce only for a login that was begun with it, and who does not have c finds neither
value but with probability 2^-256 a guess. A stolen code was made for another c: its exchange lacks the verifier, and its
token has the other nonce. Each state that fits is kept until its cookie ends, and refused when it comes again. ∎
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import threading
from typing import Any
from urllib.parse import quote_plus, urlencode

from dither.server.core.callers import Caller
from dither.server.oidc.discovery import Endpoints
from dither.server.oidc.people import read_person
from dither.server.oidc.provider import Provider
from dither.server.oidc.provider_request import request_json
from dither.server.oidc.refusals import CodeRefusedError, NobodyError

CALLBACK = "/v1/login/callback"
SECONDS = 600  # from the beginning of a login to its end
COOKIE = re.compile(r"([0-9]{1,12})\.[A-Za-z0-9_-]{43}")
CODE = re.compile(r"[!-~]{1,4096}")
MOST = 10_000  # states that were used and are not over


class CodeFlow:
    """Logins at one provider."""

    def __init__(self, provider: Provider) -> None:
        self.provider, self.facts = provider, provider.facts
        self._used: dict[str, float] = {}  # states, and until when they could come again
        self._lock = threading.Lock()

    def begin(self) -> tuple[str, str]:
        """Where to send a browser, and the cookie that it keeps meanwhile.

        Raises:
            ProviderError: the provider does not say where people log in.
        """
        endpoint = self.provider.endpoints().authorization
        cookie = f"{int(self.provider.now()) + SECONDS}.{secrets.token_urlsafe(32)}"
        asked = {
            "response_type": "code",
            "client_id": self.facts.client_id,
            "redirect_uri": self.facts.address + CALLBACK,
            "scope": " ".join(self.facts.scopes),
            "state": _derived("state", cookie),
            "nonce": _derived("nonce", cookie),
            "code_challenge": _text(hashlib.sha256(_derived("verifier", cookie).encode()).digest()),
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}", cookie

    def finish(self, cookie: str | None, state: str | None, code: str | None, issuer: str | None) -> Caller:
        """Who came back from the provider; all arguments are as they came.

        Raises:
            NobodyError: it is not the end of a login of this browser, or the provider vouches for nobody with a role.
            ProviderError: the provider does not answer.
        """
        now = self.provider.now()
        form = COOKIE.fullmatch(cookie or "")
        if cookie is None or form is None or not now < int(form[1]) <= now + SECONDS + 1:
            raise NobodyError
        if not _same(state, "state", cookie):
            raise NobodyError
        if code is None or not CODE.fullmatch(code) or not (issuer is None or issuer == self.facts.issuer):
            raise NobodyError
        endpoints = self.provider.endpoints()
        if endpoints.names_itself and issuer is None:
            raise NobodyError
        self._use(_derived("state", cookie), now, int(form[1]))
        claims = self.provider.id_claims(self._exchange(endpoints, code, cookie))
        if not _same(claims.get("nonce"), "nonce", cookie):
            raise NobodyError
        return read_person(claims, self.facts)

    def _use(self, state: str, now: float, until: float) -> None:
        with self._lock:
            if state in self._used or len(self._used) >= MOST:
                for old in [each for each, end in self._used.items() if end <= now]:
                    del self._used[old]
            if state in self._used or len(self._used) >= MOST:
                raise NobodyError
            self._used[state] = until

    def _exchange(self, endpoints: Endpoints, code: str, cookie: str) -> str:
        """The ID token for a code."""
        facts, secret, headers = self.facts, self.provider.secret, {}
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": facts.address + CALLBACK,
            "code_verifier": _derived("verifier", cookie),
        }
        if secret is not None and not endpoints.secret_in_form:
            both = f"{quote_plus(facts.client_id)}:{quote_plus(secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(both.encode()).decode()}"
        else:
            form |= {"client_id": facts.client_id} | ({} if secret is None else {"client_secret": secret})
        try:
            reply = request_json(endpoints.token, plain=self.provider.plain, form=urlencode(form), headers=headers)
        except CodeRefusedError:
            raise NobodyError from None
        token = reply.get("id_token")
        if not isinstance(token, str):
            raise NobodyError
        return token


def _derived(word: str, cookie: str) -> str:
    return _text(hashlib.sha256(f"dither login {word} {cookie}".encode()).digest())


def _same(came: Any, word: str, cookie: str) -> bool:
    right = _derived(word, cookie).encode()
    return isinstance(came, str) and hmac.compare_digest(came.encode("utf-8", "replace"), right)


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")
