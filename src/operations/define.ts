/** The shape of an operation: one definition from which REST, MCP, OpenAPI and the command line derive. */
import type { z } from 'zod';
import type { AuditLog } from '../domain/audit.ts';
import type { ScopeName } from '../domain/principal.ts';
import type { WriteResult } from '../domain/wire/write.ts';
import type { CallContext, MemoryGateway } from '../memory/gateway.ts';
import type { Confirm } from './confirm.ts';
import type { Instructions } from './instructions.ts';

export interface OperationContext extends CallContext {
  readonly memory: MemoryGateway;
  readonly instructions: Instructions;
  readonly audit: AuditLog;
  /** Asks the person behind the client. */
  readonly confirm: Confirm;
}

export interface HttpBinding {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT';
  /** `:name` segments are input fields of that name. GET and DELETE take the other fields from the query string, nested ones flat. */
  readonly path: string;
  readonly status: 200;
  /** Input fields this binding takes; all of them when absent. */
  readonly fields?: readonly string[];
  /** The answer's `version` is its ETag; If-Match becomes the input field `version`, If-None-Match answers 304. */
  readonly etag?: boolean;
  /** Takes an Idempotency-Key header. */
  readonly idempotencyKey?: boolean;
  /** The answer is a file: the strings of this output field, compressed and streamed. What breaks on the way breaks the connection off. */
  readonly stream?: { readonly field: string; readonly contentType: 'application/gzip'; readonly fileName: string };
  /** 8 MiB instead of 1 MiB. */
  readonly largeBody?: boolean;
}

export interface Operation<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  /** `memory_…`, the name of the file with underscores. */
  readonly name: string;
  readonly title: string;
  /** When to use it and when not; the default tool list has 8 kB in all, so at most 520 bytes. */
  readonly description: string;
  readonly effect: 'read' | 'write' | 'destructive';
  readonly idempotent: boolean;
  /** True of a call that changes nothing that lasts: it does not wait for its record in the audit log. */
  transient?(input: z.output<I>): boolean;
  /**
   * What the audit log would find in the answer of a call with these results of the gateway, when nothing but the store can change it any
   * more; undefined when something can. The call's record is then stored beside what it tells of.
   */
  foretold?(results: readonly WriteResult[]): Readonly<Record<string, unknown>> | undefined;
  /** True of an answer that says nothing about an id: it comes on the grid of time of a refusal, so that nobody learns why (even-time.ts). */
  silent?(input: z.output<I>, output: z.output<O>): boolean;
  readonly scope: ScopeName;
  /** Rate points of one call. */
  readonly cost: number;
  /** Points on top of `cost` for a call that carries more than one piece of work; for the length of its texts come some besides (limits.ts). */
  extraCost?(input: z.output<I>): number;
  /** The agent's turn that may make this call once. */
  turnOf?(input: z.output<I>): string | undefined;
  readonly http: readonly HttpBinding[];
  readonly mcp: {
    /** 'default' is listed always, 'all' with MCP_TOOLS=all, 'never' not. */
    readonly tool: 'default' | 'all' | 'never';
    /** Input fields the tool takes, others are refused; `field.part` shows that part of an object field alone, but takes it whole. */
    readonly fields: readonly string[];
    /** Fields that it takes besides with MCP_TOOLS=all. */
    readonly more?: readonly string[];
    /** What the tool list says of a field (or of `field.part`) in place of its description: it stands in every prompt, so it is short. */
    readonly words?: Readonly<Record<string, string>>;
    /** Fields of the answer that the tool list names, where all that is always there would be too many. */
    readonly answer?: readonly string[];
    /** Fields the tool needs although the schema has them optional, because their alternative is not shown. */
    readonly required?: readonly string[];
  };
  readonly cli?: {
    /** The field that the command line takes as a word, without a flag. */
    readonly positional?: string;
    /** Name of the command where it is another than the operation's. */
    readonly name?: string;
    /** Shorter names of the command besides the one that follows from `name`. */
    readonly aliases?: readonly string[];
  };
  readonly input: I;
  readonly output: O;
  /** Example inputs for OpenAPI, --help and tests. */
  readonly examples: readonly z.input<I>[];
  handle(input: z.output<I>, context: OperationContext): Promise<z.output<O>>;
}

/** Keeps the literal types of one definition. */
export function defineOperation<I extends z.ZodObject, O extends z.ZodObject>(operation: Operation<I, O>): Operation<I, O> {
  return Object.freeze(operation);
}

/** Any operation, for code that walks the registry; invoke() checks both schemas at run time. */
export type AnyOperation = Operation;
