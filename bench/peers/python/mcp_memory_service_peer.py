"""mcp-memory-service: its SQLite-vec storage, one database a namespace, hybrid search (BM25 and vectors).

Its refusal of texts that are alike (on by default) is switched off: every document has to be kept to be found.
"""

import asyncio
import os

from embedder import QUERY


class Peer:
    def __init__(self, job):
        # All read when the package is imported.
        os.environ.update(
            MCP_MEMORY_BASE_DIR=job["folder"],
            MCP_EXTERNAL_EMBEDDING_URL=job["embeddings_url"] + "/embeddings",
            MCP_EXTERNAL_EMBEDDING_MODEL=job["model"],
            MCP_SEMANTIC_DEDUP_ENABLED="false",
            MCP_HYBRID_FUSION_METHOD=job["options"]["fusion"],
        )
        self._job = job
        self._loop = asyncio.new_event_loop()
        self._storages = {}
        self._documents = {}

    def _storage(self, namespace):
        storage = self._storages.get(namespace)
        if storage is None:
            from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage

            path = os.path.join(self._job["folder"], f"{len(self._storages)}.db")
            storage = SqliteVecMemoryStorage(path)
            self._loop.run_until_complete(storage.initialize())
            self._storages[namespace] = storage
        return storage

    def write(self, document):
        from mcp_memory_service.models.memory import Memory
        from mcp_memory_service.utils.hashing import generate_content_hash

        storage = self._storage(document["namespace"])
        storage.embedding_model.model_name = self._job["model"]
        text = document["text"]
        memory = Memory(content=text, content_hash=generate_content_hash(text), metadata={"document": document["id"]})
        stored, _why = self._loop.run_until_complete(storage.store(memory))
        return stored

    def settle(self):
        pass

    def search(self, namespace, query, k):
        storage = self._storage(namespace)
        storage.embedding_model.model_name = self._job["model"] + QUERY
        hits = self._loop.run_until_complete(storage.retrieve_hybrid(query, n_results=k))
        return [hit.memory.metadata["document"] for hit in hits]
