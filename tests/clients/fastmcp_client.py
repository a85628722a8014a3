"""Drives `fastmcp`'s client, which signs people in with an OAuth client of its own over the one of `mcp`.

The steps are those of `python.py`, whose conversation it takes.
"""

import asyncio
import warnings
import webbrowser

import fastmcp
from fastmcp.client.auth import OAuth
from python import Driver, converse, plain, visit

warnings.simplefilter("ignore")
# The client opens a browser by itself; the test has one of its own.
webbrowser.open = visit


class FastDriver(Driver):
    """One connection of `fastmcp`."""

    async def connect(self, step: dict) -> dict:
        auth = OAuth(callback_host="127.0.0.1") if step.get("sign_in") else None
        client = fastmcp.Client(step["url"], auth=auth)
        self.client = (await self.stack.enter_async_context(client)).session
        return {
            "revision": self.client.protocol_version,
            "server": plain(self.client.server_info),
            "capabilities": plain(self.client.server_capabilities),
            "instructions": self.client.instructions,
        }


if __name__ == "__main__":
    asyncio.run(converse(FastDriver))
