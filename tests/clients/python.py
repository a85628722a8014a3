"""Drives `mcp`, the official Python client: 2026-07-28 and, where the server does not speak it, the revisions before.

One JSON step a line on standard input, one JSON answer a line on standard output; README.md says what the steps mean.
"""

import asyncio
import json
import logging
import sys
from contextlib import AsyncExitStack
from urllib.parse import parse_qs, urlsplit

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import OAuthClientMetadata
from mcp.types import ElicitResult

# The client warns about peers on its own; only what a test reads belongs in its output.
logging.disable(logging.CRITICAL)


class Signing:
    """A person signs in: where they have to go, and the port they come back to with a code."""

    def __init__(self) -> None:
        self.tokens = None
        self.information = None
        self.came: asyncio.Future = asyncio.get_running_loop().create_future()

    async def provider(self, url: str) -> OAuthClientProvider:
        server = await asyncio.start_server(self.answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        metadata = OAuthClientMetadata(
            client_name="The Python client",
            redirect_uris=[f"http://127.0.0.1:{port}/callback"],
            token_endpoint_auth_method="none",
        )
        return OAuthClientProvider(url, metadata, self, self.redirect, self.callback)

    async def answer(self, reader, writer) -> None:
        target = (await reader.readline()).decode().split(" ")[1]
        while (await reader.readline()).strip():
            pass
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()
        if target.startswith("/callback") and not self.came.done():
            self.came.set_result({name: values[0] for name, values in parse_qs(urlsplit(target).query).items()})

    async def redirect(self, address: str) -> None:
        """In the middle of connecting: answers that step with the address. What comes of it answers `signed_in`."""
        visit(address)

    async def callback(self) -> AuthorizationCodeResult:
        came = await self.came
        return AuthorizationCodeResult(code=came["code"], state=came.get("state"), iss=came.get("iss"))

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens) -> None:
        self.tokens = tokens

    async def get_client_info(self):
        return self.information

    async def set_client_info(self, information) -> None:
        self.information = information


class Driver:
    """One connection, and what the server asked through it since the last step."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self.stack = stack
        self.client: Client | None = None
        self.asked: list = []
        self.signing: Signing | None = None

    async def connect(self, step: dict) -> dict:
        self.signing = Signing() if step.get("sign_in") else None
        if "command" in step:
            server = StdioServerParameters(command=step["command"], args=step.get("arguments", []))
        else:
            auth = await self.signing.provider(step["url"]) if self.signing else None
            made = create_mcp_http_client(headers=step.get("headers") or {}, auth=auth)
            http = await self.stack.enter_async_context(made)
            server = streamable_http_client(step["url"], http_client=http)
        action = step.get("elicitation")

        async def answer(_context, parameters) -> ElicitResult:
            self.asked.append(plain(parameters))
            return ElicitResult(action=action)

        client = Client(
            server, mode=step.get("mode") or "auto", cache=None, elicitation_callback=answer if action else None
        )
        self.client = await self.stack.enter_async_context(client)
        return {
            "revision": client.protocol_version,
            "server": plain(client.server_info),
            "capabilities": plain(client.server_capabilities),
            "instructions": client.instructions,
        }

    async def perform(self, step: dict):
        match step["op"]:
            case "connect":
                try:
                    return await self.connect(step)
                finally:
                    if step.get("sign_in"):
                        await signed_in()
            case "list":
                return plain(await self.client.list_tools())
            case "call":
                seconds = step["timeout_ms"] / 1000 if step.get("timeout_ms") else None
                arguments = step.get("arguments") or {}
                return plain(await self.client.call_tool(step["name"], arguments, read_timeout_seconds=seconds))
            case "prompts":
                return plain(await self.client.list_prompts())
            case "prompt":
                return plain(await self.client.get_prompt(step["name"], step.get("arguments") or {}))
            case "close":
                return None
            case other:
                raise ValueError(f"unknown step: {other}")


def plain(model):
    """The wire form of one of the client's models."""
    return model and model.model_dump(mode="json", by_alias=True, exclude_none=True)


def visit(address: str) -> None:
    """Answers `connect` with the address the person has to go to."""
    reply({"ok": True, "result": {"visit": address}, "asked": []})


async def signed_in() -> None:
    """Takes the step that waits for what came of a visit."""
    step = json.loads(await asyncio.to_thread(sys.stdin.readline))
    if step["op"] != "signed_in":
        raise ValueError(f"expected signed_in, got {step['op']}")


def describe(error: BaseException) -> dict:
    """The innermost reason: task groups wrap the one error that matters."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        return {"kind": "MCPError", "code": error.code, "message": error.message, "data": error.data}
    return {"kind": type(error).__name__, "message": str(error)}


def reply(answer: dict) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


async def converse(kind: type = Driver) -> None:
    async with AsyncExitStack() as stack:
        driver = kind(stack)
        while line := await asyncio.to_thread(sys.stdin.readline):
            step = json.loads(line)
            try:
                answer = {"ok": True, "result": await driver.perform(step)}
            except Exception as error:  # every failure of a step is an answer, not the end of the program
                answer = {"ok": False, "error": describe(error)}
            asked, driver.asked = driver.asked, []
            if step["op"] == "close":
                await stack.aclose()
                reply(answer | {"asked": asked})
                return
            reply(answer | {"asked": asked})


if __name__ == "__main__":
    asyncio.run(converse())
