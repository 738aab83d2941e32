"""Runs one peer over one set: writes every document, asks every question, times both, and hands back ranked document ids.

Usage: driver.py MODULE JOB.json OUT.json. The module holds a class Peer: Peer(job), write(document) -> bool (False: refused),
settle(), search(namespace, query, k) -> document ids, best first; close() where there is something to close. Only the calls
of write and search are timed; what a peer needs before (imports, folders) and between (an index built after an import) is not.
"""

import importlib
import json
import sys
import time

STEP_S = 3.0


def told(step, total):
    last = time.monotonic()

    def tell(done):
        nonlocal last
        if done < total and time.monotonic() - last < STEP_S:
            return
        last = time.monotonic()
        print(f"{step} {done} of {total}", flush=True)

    return tell


def timed(call, *args):
    start = time.perf_counter()
    value = call(*args)
    return value, (time.perf_counter() - start) * 1000


def main(module, job_path, out_path):
    with open(job_path, encoding="utf-8") as file:
        job = json.load(file)
    peer = importlib.import_module(module).Peer(job)
    out = {"refused": 0, "write_ms": [], "search_ms": [], "ranked": []}

    documents = job["documents"]
    tell = told("writes", len(documents))
    for done, document in enumerate(documents, 1):
        stored, ms = timed(peer.write, document)
        out["write_ms"].append(ms)
        out["refused"] += 0 if stored else 1
        tell(done)
    peer.settle()

    # Nobody is timed on the first search, which loads indices and opens connections.
    peer.search(documents[0]["namespace"], job["warm_up"], job["k"])
    queries = job["queries"]
    tell = told("searches", len(queries))
    for done, query in enumerate(queries, 1):
        ids, ms = timed(peer.search, query["namespace"], query["query"], job["k"])
        out["search_ms"].append(ms)
        out["ranked"].append(list(dict.fromkeys(ids)))
        tell(done)

    close = getattr(peer, "close", None)
    if close is not None:
        close()
    with open(out_path, "w", encoding="utf-8") as file:
        json.dump(out, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
