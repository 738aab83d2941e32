"""What the Python clients have in common: one line for each check, as run-clients.mjs counts them."""
import asyncio
import json
import random
import os
import sys

MCP_URL = os.environ["MCP_URL"]
SSE_URL = os.environ["SSE_URL"]
TOKEN = os.environ["TOKEN"]
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
STDIO = {"command": os.environ["NODE"], "args": [os.environ["MAIN"], "mcp"], "env": {"HINDSIGHT_URL": MCP_URL, "HINDSIGHT_TOKEN": TOKEN}}
NOTE = "Ana keeps the spare kettle on the second floor."


def leaf(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def attempt(title, work, seconds=40):
    """One transport of one client; what fails in it ends it with a line that says so."""
    try:
        await asyncio.wait_for(work(lambda check, holds, facts="": report(title, check, holds, facts)), seconds)
    except BaseException as error:  # noqa: BLE001 - a client may fail in any way
        print(f"FAILED {title}: {type(leaf(error)).__name__}: {str(leaf(error))[:300]}", flush=True)


def report(title, check, holds, facts):
    print(f"{'ok    ' if holds else 'FAILED'} {title}: {check} {facts if holds else ''}".rstrip(), flush=True)
    if not holds:
        print(f"       {str(facts)[:600]}", flush=True)


async def use(check, tools, call, field):
    """List, write, search, get and a fault; `call` gives (structured, is_error), `field` reads a field of a tool in this client's spelling."""
    names = [tool.name for tool in tools]
    check("tools are listed", "memory_write" in names and "memory_search" in names, ", ".join(names))
    described = all(field(tool, "outputSchema") and tool.annotations is not None for tool in tools)
    check("every tool has an output schema and annotations", described)
    written, failed = await call("memory_write", {"content": f"{NOTE} Its number is {random.randint(1000, 9999)}.", "wait": True})
    memory_id = written["results"][0]["memory_id"] if not failed else ""
    check("write", not failed and memory_id != "", written if failed else "")
    found, failed = await call("memory_search", {"query": "spare kettle"})
    check("search finds it", not failed and "kettle" in json.dumps(found["hits"]), found)
    got, failed = await call("memory_get", {"memory_id": memory_id})
    check("get", not failed and got["memory_id"] == memory_id, got)
    fault, failed = await call("memory_get", {"memory_id": "none"})
    check("a fault is a result with isError", failed, fault)


def finish(main):
    asyncio.run(main())
    sys.exit(0)
