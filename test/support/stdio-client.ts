/** `hindsight-es mcp` as a child process, spoken to by lines as an MCP client does. */
import { Program } from './program.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
type Message = any;

export class StdioClient {
  readonly program: Program;
  readonly #startedAt = performance.now();
  #nextId = 1;

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    this.program = Program.main(['mcp', ...args], env);
  }

  /** Everything on stdout; throws when a line is not JSON-RPC. */
  get messages(): Message[] {
    return this.program.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const message = JSON.parse(line);
        if (message.jsonrpc !== '2.0') throw new Error(`not JSON-RPC: ${line}`);
        return message;
      });
  }

  send(message: object): void {
    this.program.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async ask(method: string, params: object = {}): Promise<Message> {
    const id = this.#nextId++;
    this.send({ id, method, params });
    const found = (): Message => this.messages.find((message) => message.id === id && message.method === undefined);
    await this.program.until(() => found() !== undefined);
    return found();
  }

  async call(name: string, args: object): Promise<Message> {
    return this.ask('tools/call', { name, arguments: args });
  }

  /** Milliseconds from the start of the process to the answer. */
  async hello(): Promise<number> {
    const clientInfo = { name: 'test', version: '1' };
    await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    const took = performance.now() - this.#startedAt;
    this.send({ method: 'notifications/initialized' });
    return took;
  }

  /** Ends stdin; the exit code, and how long the end took in ms. */
  async leave(): Promise<{ readonly code: number | null; readonly tookMs: number }> {
    const began = performance.now();
    this.program.child.stdin?.end();
    const { code } = await this.program.exited;
    return { code, tookMs: performance.now() - began };
  }
}
