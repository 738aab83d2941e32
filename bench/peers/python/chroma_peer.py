"""Chroma in a folder: one collection with cosine distance, the namespace as metadata; its search on one's own machine is by vector."""

import os

import chromadb
from chromadb import Documents, EmbeddingFunction, Embeddings
from chromadb.config import Settings

from embedder import Embedder


class BenchEmbedding(EmbeddingFunction[Documents]):
    def __init__(self, embedder):
        self._embedder = embedder

    def __call__(self, input: Documents) -> Embeddings:
        return self._embedder.passages(input)

    def embed_query(self, input: Documents) -> Embeddings:
        return [self._embedder.query(text) for text in input]

    @staticmethod
    def name():
        return "bench"

    def get_config(self):
        return {}

    @staticmethod
    def build_from_config(config):
        raise NotImplementedError("the bench opens its collections itself")


class Peer:
    def __init__(self, job):
        client = chromadb.PersistentClient(
            path=os.path.join(job["folder"], "chroma"),
            settings=Settings(anonymized_telemetry=False),
        )
        self._collection = client.create_collection(
            "memories",
            embedding_function=BenchEmbedding(Embedder(job["embeddings_url"], job["model"])),
            configuration={"hnsw": {"space": "cosine"}},
        )

    def write(self, document):
        self._collection.add(
            ids=[document["id"]],
            documents=[document["text"]],
            metadatas=[{"namespace": document["namespace"]}],
        )
        return True

    def settle(self):
        pass

    def search(self, namespace, query, k):
        return self._collection.query(query_texts=[query], n_results=k, where={"namespace": namespace})["ids"][0]
