"""A provider that others wrote, and a gateway with its processes: from the login to a question and its share."""

from __future__ import annotations

import warnings
from dataclasses import replace

import httpx
import pytest

from dither.server.app import create_app
from dither.server.core.config import Limits
from dither.server.core.oidc_facts import GroupRole, OidcFacts
from tests.server.gateways import config, running
from tests.server.oidc.providers import Browser

with warnings.catch_warnings():
    from authlib.deprecate import AuthlibDeprecationWarning

    warnings.simplefilter("ignore", AuthlibDeprecationWarning)  # of what the provider is built on
    from oidc_provider_mock import User, run_server_in_thread

SQL = "SELECT COUNT(*) AS n FROM visits"


@pytest.mark.filterwarnings("ignore")
def test_from_a_login_to_an_answer(home, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_SECRET", "geheim")
    people = [
        User(sub="ana", claims={"groups": ["staff", "tennis"]}),
        User(sub="olga", claims={"groups": "boss"}),
        User(sub="eve", claims={"groups": ["tennis"]}),
    ]
    roles = (GroupRole("staff", "analyst", ("clinic",)), GroupRole("boss", "owner"))
    with run_server_in_thread(user_claims=people) as server:
        issuer = f"http://localhost:{server.server_port}"
        facts = OidcFacts(issuer, "dither", roles, client_secret_env="SOME_SECRET")
        made = replace(config(tmp_path, limits=Limits(wrong_tokens_per_minute=1000)), oidc=facts)
        with running(made) as gateway:
            app = create_app(gateway)

            def log_in(name):
                browser = Browser(app)
                location = browser.get("/v1/login").headers["location"]
                back = httpx.post(location, data={"sub": name}).headers["location"]
                assert back.startswith("http://127.0.0.1:8765/v1/login/callback?")
                return browser, browser.get(back.removeprefix("http://127.0.0.1:8765"))

            ana, reply = log_in("ana")
            secret = reply.json()["secret"]
            assert ana.get("/v1/me", secret).json()["name"] == "oidc:ana"
            assert ana.get("/v1/datasets", secret).json()["datasets"][0]["name"] == "clinic"
            assert log_in("eve")[1].status_code == 401
            _, reply = log_in("olga")
            assert (reply.json()["role"], reply.json()["datasets"]) == ("owner", ["*"])
            owner = reply.json()["secret"]
            budget = {"dataset": "clinic", "sql": SQL, "epsilon": "0.1"}
            assert ana.post("/v1/queries", secret, budget).status_code == 200
            share = {"name": "bob", "datasets": ["clinic"], "share": {"epsilon": "0.5"}}
            assert ana.post("/v1/tokens", owner, share).status_code == 201
            asked = ana.post("/v1/queries", secret, budget | {"epsilon": "0.2"})
            assert (asked.status_code, asked.json()["instead"]) == (402, "asking the owner for a share")
