"""fastmcp over Streamable HTTP, HTTP+SSE, stdio, and from an mcpServers configuration as desktop clients have it."""
from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

from clients import HEADERS, MCP_URL, SSE_URL, STDIO, attempt, finish, use


def field(tool, name):
    return getattr(tool, "outputSchema", None) or getattr(tool, "output_schema", None)


def running(transport):
    async def work(check):
        async with Client(transport()) as client:
            check("connect", client.is_connected())

            async def call(name, arguments):
                result = await client.call_tool(name, arguments, raise_on_error=False)
                return (result.content[0].text if result.is_error else result.structured_content), bool(result.is_error)

            await use(check, await client.list_tools(), call, field)

    return work


def http():
    return StreamableHttpTransport(MCP_URL, headers=HEADERS)


def sse():
    return SSETransport(SSE_URL, headers=HEADERS)


def stdio():
    return StdioTransport(**STDIO)


def config():
    return {"mcpServers": {"memory": {"url": MCP_URL, "transport": "http", "headers": HEADERS}}}


async def main():
    await attempt("fastmcp http", running(http))
    await attempt("fastmcp sse", running(sse))
    await attempt("fastmcp stdio", running(stdio))
    await attempt("fastmcp mcpServers config", running(config))


finish(main)
