"""Drives `mcp`, the official Python client: 2026-07-28 and, where the server does not speak it, the revisions before.

One JSON step a line on standard input, one JSON answer a line on standard output; README.md says what the steps mean.
"""

import asyncio
import json
import logging
import sys
from contextlib import AsyncExitStack

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import ElicitResult

# The client warns about peers on its own; only what a test reads belongs in its output.
logging.disable(logging.CRITICAL)


class Driver:
    """One connection, and what the server asked through it since the last step."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self.stack = stack
        self.client: Client | None = None
        self.asked: list = []

    async def connect(self, step: dict) -> dict:
        if "command" in step:
            server = StdioServerParameters(command=step["command"], args=step.get("arguments", []))
        else:
            http = await self.stack.enter_async_context(create_mcp_http_client(headers=step.get("headers") or {}))
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
                return await self.connect(step)
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


async def converse() -> None:
    async with AsyncExitStack() as stack:
        driver = Driver(stack)
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


asyncio.run(converse())
