"""The bench's embedder as the peers' libraries want it: one OpenAI-compatible endpoint, one connection kept open.

The endpoint serves two models of the product, "zh" and "en"; with "-query" behind the name it embeds a question.
"""

import http.client
import json
from urllib.parse import urlsplit

QUERY = "-query"


class Embedder:
    def __init__(self, url, model):
        self.url = url
        self.model = model
        parts = urlsplit(url)
        self._path = parts.path + "/embeddings"
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port)

    def passages(self, texts):
        return self._embed(texts, self.model)

    def query(self, text):
        return self._embed([text], self.model + QUERY)[0]

    def _embed(self, texts, model):
        body = json.dumps({"model": model, "input": list(texts), "encoding_format": "float"})
        self._connection.request("POST", self._path, body, {"content-type": "application/json"})
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"the embedder answered {answer.status}")
        return [row["embedding"] for row in json.loads(text)["data"]]
