"""Python mcp 2.x: Client in its three modes over Streamable HTTP, HTTP+SSE and stdio."""
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from clients import HEADERS, MCP_URL, SSE_URL, STDIO, attempt, finish, use


def field(tool, name):
    return getattr(tool, {"outputSchema": "output_schema"}.get(name, name))


def running(transport, mode, version):
    async def work(check):
        async with Client(transport(), mode=mode) as client:
            spoken = client.session.protocol_version
            check("connect", spoken in version, spoken)

            async def call(name, arguments):
                result = await client.call_tool(name, arguments)
                return (result.content[0].text if result.is_error else result.structured_content), bool(result.is_error)

            await use(check, (await client.list_tools()).tools, call, field)

    return work


def http():
    return streamable_http_client(MCP_URL, http_client=httpx2.AsyncClient(headers=HEADERS, timeout=30))


def sse():
    return sse_client(SSE_URL, headers=HEADERS)


def stdio():
    return stdio_client(StdioServerParameters(**STDIO))


LEGACY = ("2025-11-25", "2025-06-18", "2024-11-05")
MODERN = ("2026-07-28",)


async def main():
    await attempt("python mcp 2 http auto", running(http, "auto", MODERN))
    await attempt("python mcp 2 http legacy", running(http, "legacy", LEGACY))
    await attempt("python mcp 2 http 2026-07-28", running(http, "2026-07-28", MODERN))
    await attempt("python mcp 2 sse", running(sse, "legacy", LEGACY))
    await attempt("python mcp 2 stdio auto", running(stdio, "auto", MODERN))
    await attempt("python mcp 2 stdio legacy", running(stdio, "legacy", LEGACY))


finish(main)
