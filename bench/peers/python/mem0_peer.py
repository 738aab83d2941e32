"""mem0 without a language model: Memory.add(infer=False) and Memory.search, one user_id a namespace.

Vector store: Qdrant in a folder (mem0's default; similarity alone, for its BM25 wants a model from a hub), or the
Elasticsearch of the bench, with which mem0 ranks by similarity and BM25.
"""

import os
from urllib.parse import urlsplit

from embedder import QUERY


class Peer:
    def __init__(self, job):
        # Read when mem0 is imported.
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=os.path.join(job["folder"], "home"))
        from mem0 import Memory

        # The client's own connection pool; it takes no key, but the client asks for one.
        key = {"api_key": "none"}
        self._model = job["model"]
        self._memory = Memory.from_config(
            {
                "vector_store": self._store(job),
                "embedder": {
                    "provider": "openai",
                    "config": {"model": self._model, "openai_base_url": job["embeddings_url"], **key},
                },
                "llm": {"provider": "openai", "config": {"model": "none", "openai_base_url": job["embeddings_url"], **key}},
                "history_db_path": os.path.join(job["folder"], "history.db"),
            }
        )

    def _store(self, job):
        common = {"collection_name": "memories", "embedding_model_dims": job["dims"]}
        if job["options"]["store"] == "qdrant":
            path = os.path.join(job["folder"], "qdrant")
            return {"provider": "qdrant", "config": {**common, "path": path, "on_disk": True}}
        engine = urlsplit(job["engine_url"])
        config = {
            **common,
            "collection_name": job["index"],
            "host": f"{engine.scheme}://{engine.hostname}",
            "port": engine.port,
            # Asked for by the configuration, ignored by an engine without security.
            "user": "none",
            "password": "none",
            "verify_certs": False,
        }
        return {"provider": "elasticsearch", "config": config}

    def write(self, document):
        # mem0's embedder knows no kind of text: the bench names the model for it, so that e5 gets its prefixes.
        self._memory.embedding_model.config.model = self._model
        answer = self._memory.add(
            document["text"],
            user_id=document["namespace"],
            metadata={"document": document["id"]},
            infer=False,
        )
        return len(answer["results"]) == 1

    def settle(self):
        client = self._memory.vector_store.client
        if hasattr(client, "indices"):
            client.indices.refresh(index=self._memory.collection_name)

    def search(self, namespace, query, k):
        self._memory.embedding_model.config.model = self._model + QUERY
        answer = self._memory.search(query, filters={"user_id": namespace}, top_k=k, threshold=0.0)
        return [hit["metadata"]["document"] for hit in answer["results"]]

    def close(self):
        self._memory.close()
