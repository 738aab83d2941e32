/** A `fetch` for operator-configured endpoints: no redirects, and a body that is read whole and never beyond a limit. */

export class ResponseTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the response is larger than ${String(maxBytes)} bytes`);
  }
}

/**
 * The body is read before the response is handed on, so a caller's time-out covers headers and body alike.
 * @throws ResponseTooLarge as soon as the limit is passed (a declared length is not read at all), and what fetch throws.
 */
export function boundedFetch(maxBytes: number): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    // A redirect could lead from the configured host to an internal one.
    const response = await fetch(input, { ...init, redirect: 'error' });
    if (response.body === null) return response;
    if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
      await response.body.cancel();
      throw new ResponseTooLarge(maxBytes);
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      // Leaving the loop cancels the stream.
      if (bytes > maxBytes) throw new ResponseTooLarge(maxBytes);
      chunks.push(chunk);
    }
    return new Response(Buffer.concat(chunks), { status: response.status, headers: response.headers });
  };
}
