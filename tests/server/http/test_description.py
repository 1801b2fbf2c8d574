"""The description of the API is true: random requests, made from it, get what it says, and never a 5xx."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from dither.server.app import create_app
from dither.server.core.config import Limits
from tests.seeds import examples
from tests.server.http.stand_in import StandIn

# Not whether all that the description does not allow is refused: parts of a request that were left out on its way, such as
# an empty parameter, would be alarms. `test_request_body.py` and `test_routes.py` hold that.
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    unsupported_method,
]
TRIES = settings(max_examples=examples(5, 200), deadline=None, database=None, suppress_health_check=list(HealthCheck))
APP = create_app(StandIn(limits=Limits(body_bytes=2**24)))  # so that what is too long is refused for that
BY_HEART = schemathesis.openapi.from_asgi("/openapi.json", APP)


@BY_HEART.parametrize()
@TRIES
def test_every_route_does_what_is_said_of_it(case):
    case.call_and_validate(headers={"Authorization": "Bearer owner"}, checks=CHECKS)


REAL = schemathesis.openapi.from_dict(APP.openapi())


@pytest.mark.parametrize("who", ["ana", "udo", "nobody"] if examples(0, 1) else ["ana"])
@REAL.parametrize()
@TRIES
def test_no_request_makes_a_real_gateway_fail(real, who, case):
    """Random texts as questions, conditions, prices and names: refused, or answered. An owner would change the ledger."""
    if isinstance(case.body, dict):
        named, sql = case.body.get("dataset"), case.body.get("sql")
        if isinstance(named, str) and 0 < len(named) <= 200:
            case.body["dataset"] = "clinic"
        if isinstance(sql, str) and len(sql) % 2:
            case.body["sql"] = f"SELECT ward, SUM(cost) AS s FROM visits WHERE cost > {sql} GROUP BY ward"
    headers = {"Authorization": f"Bearer {real.secrets.get(who, who)}"}
    case.call_and_validate(base_url=f"http://127.0.0.1:{real.port}", headers=headers, checks=CHECKS)
