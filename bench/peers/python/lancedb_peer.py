"""LanceDB: one table with a namespace column, hybrid search (vectors and its native full text) fused by its RRF reranker.

Full text of Chinese sets is segmented by its ICU tokenizer, of English ones by the default with stemming; vectors are
compared exactly (an index pays above the size of these sets).
"""

import os

import lancedb
import pyarrow as pa
from lancedb.index import FTS
from lancedb.query import MatchQuery
from lancedb.rerankers import RRFReranker

from embedder import Embedder


class Peer:
    def __init__(self, job):
        self._embedder = Embedder(job["embeddings_url"], job["model"])
        self._reranker = RRFReranker()
        schema = pa.schema(
            [
                ("id", pa.string()),
                ("namespace", pa.string()),
                ("text", pa.string()),
                ("vector", pa.list_(pa.float32(), job["dims"])),
            ]
        )
        self._chinese = job["language"] == "zh"
        database = lancedb.connect(os.path.join(job["folder"], "lance"))
        self._table = database.create_table("memories", schema=schema)

    def write(self, document):
        text = document["text"]
        row = {**document, "text": text, "vector": self._embedder.passages([text])[0]}
        self._table.add([{name: row[name] for name in ("id", "namespace", "text", "vector")}])
        return True

    def settle(self):
        chinese = {"base_tokenizer": "icu", "stem": False, "remove_stop_words": False}
        self._table.create_index("text", config=FTS(**(chinese if self._chinese else {})))
        self._table.create_scalar_index("namespace")
        self._table.optimize()

    def search(self, namespace, query, k):
        name = namespace.replace("'", "''")
        rows = (
            self._table.search(query_type="hybrid")
            .vector(self._embedder.query(query))
            .text(MatchQuery(query, "text"))  # a plain string in quotation marks would be a phrase
            .distance_type("cosine")
            .where(f"namespace = '{name}'", prefilter=True)
            .rerank(self._reranker)
            .limit(2 * k)
            .to_list()
        )
        return [row["id"] for row in rows[:k]]
