"""The Model Context Protocol: tools and prompt of `tools.py` as its messages, over HTTP at /mcp and over stdio.

Over HTTP each request stands by itself: its token is looked up, its caller asks, and nothing is kept between two of them.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from dither import __version__
from dither.client.gateway import RemoteGateway
from dither.extras import needs
from dither.server.core.callers import Caller
from dither.server.core.gateway import Gateway
from dither.server.mcp.door import Door
from dither.server.mcp.gateway_door import GatewayDoor
from dither.server.mcp.message_body import whole_body
from dither.server.mcp.remote_door import RemoteDoor
from dither.server.mcp.tools import (
    DESCRIPTIONS,
    HOW_TO_SPEND,
    PROMPT,
    PROMPT_DESCRIPTION,
    READS_ONLY,
    call,
    schema,
)

with needs("dither[server]"):
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.requests import Request

if TYPE_CHECKING:
    from fastapi import FastAPI
    from mcp.server.context import ServerRequestContext
    from starlette.types import Receive, Scope, Send

Context: TypeAlias = "ServerRequestContext[Any, Any]"
CallerOf: TypeAlias = Callable[[Request], Awaitable[Caller]]
PATH = "/mcp"
CALLER = "dither.caller"  # in the scope of a request


def make_server(door_of: Callable[[Context], Door]) -> Server[Any]:
    """A server of the protocol; `door_of` says through which door a request asks."""

    async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(name) for name in DESCRIPTIONS])

    async def call_tool(context: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        told = await call(door_of(context), asked.name, asked.arguments or {})
        text = json.dumps(told, ensure_ascii=False)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=told)

    async def list_prompts(_: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt(name=PROMPT, description=PROMPT_DESCRIPTION)])

    async def get_prompt(_: Context, __: types.GetPromptRequestParams) -> types.GetPromptResult:
        text = types.TextContent(type="text", text=HOW_TO_SPEND)
        message = types.PromptMessage(role="user", content=text)
        return types.GetPromptResult(description=PROMPT_DESCRIPTION, messages=[message])

    return Server(
        "dither",
        version=__version__,
        instructions=HOW_TO_SPEND,
        get_tool_input_schema=lambda name: schema(name) if name in DESCRIPTIONS else None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _tool(name: str) -> types.Tool:
    hints = types.ToolAnnotations(read_only_hint=True) if name in READS_ONLY else None
    return types.Tool(name=name, description=DESCRIPTIONS[name], input_schema=schema(name), annotations=hints)


class McpRequests:
    """An ASGI application: each request is answered by itself, for the caller of its token."""

    def __init__(self, gateway: Gateway, caller_of: CallerOf) -> None:
        self._gateway, self._caller_of = gateway, caller_of
        self._server = make_server(self._door)

    def _door(self, context: Context) -> Door:
        assert context.request is not None, "it came over HTTP"
        return GatewayDoor(self._gateway, context.request.scope[CALLER])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; without a valid token it is the problem that every door has."""
        caller = await self._caller_of(Request(scope, receive))
        most = self._gateway.config.limits.body_bytes
        given = await whole_body(receive, most) if scope["method"] == "POST" else receive
        manager = StreamableHTTPSessionManager(self._server, json_response=True, stateless=True, max_request_body_size=most)
        async with manager.run():
            await manager.handle_request({**scope, CALLER: caller}, given, send)


def mount_mcp(app: FastAPI, gateway: Gateway, caller_of: CallerOf) -> None:
    """Serve the protocol at /mcp of an application.

    Args:
        app: the gateway over HTTP.
        gateway: whom the tools ask.
        caller_of: who asks, by the bearer token of a request; it raises a `Problem` where there is none.
    """
    quiet = logging.getLogger("mcp")  # what it logs may have texts of requests in it; requests are logged by the app
    quiet.propagate, quiet.handlers = False, [logging.NullHandler()]
    app.add_route(PATH, McpRequests(gateway, caller_of), include_in_schema=False)  # type: ignore[arg-type] # an application


def serve_stdio(gateway: RemoteGateway) -> None:
    """Serve the protocol on standard input and output until the input ends; all is asked of a gateway over HTTP."""
    door = RemoteDoor(gateway)

    async def run() -> None:
        server = make_server(lambda _: door)
        async with stdio_server() as (reads, writes):
            await server.run(reads, writes, server.create_initialization_options())

    asyncio.run(run())
