/** A client of HTTP+SSE down to the bytes: one open stream, and messages posted beside it. */
import { request, type IncomingHttpHeaders } from 'node:http';
import { ANN, type McpServer } from './mcp-server.ts';

export interface SseStream {
  readonly headers: IncomingHttpHeaders;
  /** Where the server wants messages. */
  readonly endpoint: string;
  /** JSON-RPC messages so far. */
  readonly messages: Record<string, ReturnType<typeof JSON.parse>>[];
  /** Everything that came, comments too. */
  readonly text: () => string;
  readonly ended: () => boolean;
  readonly leave: () => void;
}

export function openSse(server: McpServer, token: string): Promise<SseStream> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const asked = request(new URL('/sse', server.url), { headers, agent: false }, (answer) => {
      let text = '';
      let ended = false;
      const messages: SseStream['messages'] = [];
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        const events = [...text.matchAll(/event: message\ndata: (.+)\n\n/g)];
        for (const [, data = ''] of events.slice(messages.length)) messages.push(JSON.parse(data) as SseStream['messages'][number]);
        const endpoint = /^event: endpoint\ndata: (.+)\n\n/.exec(text)?.[1];
        if (endpoint !== undefined)
          resolve({
            headers: answer.headers,
            endpoint,
            messages,
            text: () => text,
            ended: () => ended,
            leave: () => void asked.destroy(),
          });
      });
      answer.on('error', () => undefined);
      answer.on('close', () => {
        ended = true;
        reject(new Error(`the stream ended: ${answer.statusCode} ${text}`));
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

export function post(server: McpServer, endpoint: string, body: unknown, token: string | null = ANN): Promise<Response> {
  return fetch(new URL(endpoint, server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
}
