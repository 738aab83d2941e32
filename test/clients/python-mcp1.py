"""Python mcp 1.x: ClientSession over Streamable HTTP, HTTP+SSE and stdio."""
import httpx
from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from clients import HEADERS, MCP_URL, SSE_URL, STDIO, attempt, finish, use


async def session(check, read, write):
    async with ClientSession(read, write) as client:
        hello = await client.initialize()
        check("initialize", hello.serverInfo.name == "hindsight-es", hello.protocolVersion)

        async def call(name, arguments):
            result = await client.call_tool(name, arguments)
            return (result.content[0].text if result.isError else result.structuredContent), bool(result.isError)

        await use(check, (await client.list_tools()).tools, call, getattr)


async def http(check):
    async with httpx.AsyncClient(headers=HEADERS, timeout=30) as web:
        async with streamable_http_client(MCP_URL, http_client=web) as (read, write, _):
            await session(check, read, write)


async def sse(check):
    async with sse_client(SSE_URL, headers=HEADERS) as (read, write):
        await session(check, read, write)


async def stdio(check):
    async with stdio_client(StdioServerParameters(**STDIO)) as (read, write):
        await session(check, read, write)


async def main():
    await attempt("python mcp 1 http", http)
    await attempt("python mcp 1 sse", sse)
    await attempt("python mcp 1 stdio", stdio)


finish(main)
