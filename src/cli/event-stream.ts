/** Server-sent events as MCP uses them: the JSON-RPC messages of one response body. */

/** Larger events than the service ever sends. */
const MAX_EVENT_CHARS = 32 * 1_048_576;

/**
 * Data of each `message` event, in order; comments and empty events (primers) are passed over (WHATWG HTML, server-sent events). Throws
 * when the connection breaks.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    if (rest.length > MAX_EVENT_CHARS) throw new Error('the event is too large');
    // the service ends lines with LF alone
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.map((one) => one.replace(/\r$/, ''))) {
      if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      else if (line === '') {
        const event = data.join('\n');
        data = [];
        if (event !== '') yield event;
      }
    }
  }
}
