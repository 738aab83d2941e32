/** The trace of a call, as everything that runs within it sees it. */
import { setTimeout as delay } from 'node:timers/promises';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { openTrace, traceparentOf } from '../../../src/telemetry/trace.ts';
import { continueTrace, currentOrigin, currentTraceId, traceHeaders, withTrace } from '../../../src/telemetry/trace-context.ts';

describe('trace context', () => {
  it('is there in whatever a call awaits, each call its own', async () => {
    const traces = [openTrace(), openTrace()];
    const seen = await Promise.all(
      traces.map((trace, i) =>
        withTrace(trace, `route ${i}`, async () => {
          await delay(1);
          return [currentTraceId(), currentOrigin(), traceHeaders()];
        }),
      ),
    );
    expect(seen).to.deep.equal(traces.map((trace, i) => [trace.traceId, `route ${i}`, { traceparent: traceparentOf(trace) }]));
  });

  it('is empty outside a call', () => {
    expect([currentTraceId(), currentOrigin(), traceHeaders()]).to.deep.equal([undefined, undefined, {}]);
    continueTrace(openTrace());
    expect(currentTraceId()).to.equal(undefined);
  });

  it('goes on with the trace that a message names, for the call it came in', async () => {
    const [first, second, other] = [openTrace(), openTrace(), openTrace()];
    const [changed, unchanged] = await Promise.all([
      withTrace(first, 'a', async () => {
        await delay(1);
        continueTrace(second);
        await delay(1);
        return currentTraceId();
      }),
      withTrace(other, 'b', async () => {
        await delay(3);
        return currentTraceId();
      }),
    ]);
    expect([changed, unchanged]).to.deep.equal([second.traceId, other.traceId]);
  });

  it('gives every log line of the call its trace_id, once', () => {
    const texts: string[] = [];
    const sink = new Writable({ write: (chunk: Buffer, _encoding, done) => (texts.push(chunk.toString()), done()) });
    const logger = createLogger({ logLevel: 'info' }, sink);
    const trace = openTrace();
    withTrace(trace, 'a', () => {
      logger.warn({ part: 'vector' }, 'search is degraded');
      logger.child({ job: 'x' }).info({}, 'from a child');
      logger.info({ trace_id: 'given' }, 'one of its own');
    });
    logger.info({}, 'outside');
    const lines = texts.map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(lines.map((line) => line['trace_id'])).to.deep.equal([trace.traceId, trace.traceId, 'given', undefined]);
    expect(texts.every((text) => text.split('trace_id').length <= 2)).to.equal(true);
  });
});
