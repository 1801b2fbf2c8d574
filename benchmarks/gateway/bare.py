"""A bare FastAPI endpoint: a JSON body, a token that is hashed and compared, a small reply. What no gateway can be below."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import socket
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, Header
from pydantic import BaseModel

SECRET = "dth_bare"
HASH = hashlib.sha256(SECRET.encode()).digest()
app = FastAPI(openapi_url=None)


class Body(BaseModel):
    """As a question's."""

    dataset: str
    sql: str
    rho: str


@app.post("/v1/quotes")
async def bare(body: Body, authorization: Annotated[str, Header()]) -> dict[str, Any]:
    """A reply of the length of a quote."""
    told = authorization.removeprefix("Bearer ").encode()
    assert hmac.compare_digest(hashlib.sha256(told).digest(), HASH)
    return {"id": secrets.token_hex(12), "dataset": body.dataset, "sql": body.sql, "explain": "x" * 1000}


def main() -> None:
    """Listen on a free port of this machine, and say so."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a reply in two parts waits for 40 ms
        print(f"bare: listening on http://127.0.0.1:{bound.getsockname()[1]}", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run([bound])


if __name__ == "__main__":
    main()
