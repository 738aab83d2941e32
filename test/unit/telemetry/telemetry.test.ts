import { Writable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { HindsightError } from '../../../src/errors.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { scrub } from '../../../src/telemetry/redact.ts';
import { openTrace, traceparentOf } from '../../../src/telemetry/trace.ts';

type Line = Record<string, unknown>;

function logged(level = 'info') {
  const lines: Line[] = [];
  const texts: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      texts.push(chunk.toString());
      lines.push(JSON.parse(chunk.toString()) as Line);
      done();
    },
  });
  return { logger: createLogger({ logLevel: level }, sink), lines, texts };
}

describe('logger', () => {
  it('writes one JSON object a line with level, time, fields and message', () => {
    const { logger, lines, texts } = logged();
    logger.info({ trace_id: 'abc', took_ms: 3 }, 'request done');
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ level: 'info', trace_id: 'abc', took_ms: 3, msg: 'request done' });
    expect(lines[0]?.['time']).to.match(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(texts[0]?.endsWith('}\n')).to.equal(true);
  });

  it('leaves out what is below the configured level', () => {
    const { logger, lines } = logged('warn');
    logger.info({}, 'quiet');
    logger.error({}, 'loud');
    expect(lines.map((l) => l['msg'])).to.deep.equal(['loud']);
  });

  it('child loggers carry their fields, redacted', () => {
    const { logger, lines } = logged();
    logger.child({ trace_id: 't', token: 'secret-token' }).info({ a: 1 }, 'x');
    expect(lines[0]).to.include({ trace_id: 't', token: '[redacted]', a: 1 });
  });

  it('never writes tokens, keys or memory content, at any depth and in any spelling', () => {
    const { logger, texts } = logged();
    const secret = 'S3CRET-value';
    logger.info(
      {
        authorization: secret,
        Authorization: secret,
        headers: { 'x-api-key': secret, cookie: secret },
        config: { serviceSecret: secret, master_key: secret, elasticsearch: { password: secret, apiKey: secret } },
        items: [
          { content: secret, title: secret, tags: [secret] },
          { queries: [secret], metadata: { k: secret } },
        ],
        run: { token: secret, agent_token: secret },
        note: secret,
        passages: [{ text: secret, vector: [1, 2] }],
      },
      'x',
    );
    expect(texts.join()).to.not.contain(secret);
  });

  it('takes credentials out of any text', () => {
    const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl';
    for (const text of [
      `Bearer ${jwt}`,
      `token=${jwt}`,
      'authorization: bearer abcdefgh12345678',
      'connect redis://:hunter2pw@redis:6379',
      'https://user:hunter2pw@es:9200/x',
    ])
      expect(scrub(text), text).to.not.match(/hunter2pw|abcdefgh1234|eyJzdWI/);
    expect(scrub('connect ECONNREFUSED 127.0.0.1:9200')).to.equal('connect ECONNREFUSED 127.0.0.1:9200');
  });

  it('describes an error by code, message and causes, without quoted upstream text and without its own properties', () => {
    const { logger, lines, texts } = logged();
    const echoed = "failed to parse field [x]. Preview of field's value: 'the patient takes 40 mg of something every morning'";
    const upstream = Object.assign(new Error(echoed), { meta: { body: { query: 'SECRET-QUERY' } }, payload: { sub: 'SECRET-SUB' } });
    logger.error({ err: new HindsightError('ERR_STORE_REJECTED', { cause: upstream }), took_ms: 1 }, 'operation failed');
    expect(lines[0]?.['err']).to.deep.include({
      type: 'HindsightError',
      code: 'ERR_STORE_REJECTED',
      message: 'The store refused the operation',
    });
    expect(texts.join())
      .to.contain('failed to parse field [x]')
      .and.to.not.match(/patient|SECRET/);
  });

  it('keeps the frames of an unexpected error and drops the message from its stack', () => {
    const { logger, lines } = logged();
    logger.error({ err: new TypeError(`bad "${'m'.repeat(60)}"`) }, 'x');
    const err = lines[0]?.['err'] as { stack: string; message: string };
    expect(err.stack).to.match(/^at /);
    expect(err.stack).to.not.contain('mmm');
    expect(err.message).to.equal('bad "[60 characters]"');
  });

  it('cannot be made to write a second line or a raw control character', () => {
    const { logger, texts } = logged();
    logger.info({ id: 'a\r\n{"level":"fatal"}\u001b[31m\u2028' }, 'x');
    expect(texts).to.have.length(1);
    expect(texts[0]?.slice(0, -1)).to.not.match(/[\r\n\u001b]/);
  });

  it('survives cycles, huge values and odd types', () => {
    const { logger, lines } = logged();
    const cycle: Record<string, unknown> = { n: 1n, f: () => 1, set: new Set([1]), bytes: new Uint8Array(5), long: 'x'.repeat(100_000) };
    cycle['self'] = cycle;
    logger.info({ cycle }, 'x');
    expect(JSON.stringify(lines[0])).to.have.length.below(20_000);
    expect(lines[0]).to.have.nested.property('cycle.bytes', '[5 bytes]');
  });
});

describe('trace context', () => {
  const trace = '0af7651916cd43dd8448eb211c80319c';

  it('goes on with the caller’s trace under a span of its own', () => {
    const opened = openTrace(`00-${trace}-b7ad6b7169203331-01`);
    expect(opened).to.include({ traceId: trace, flags: '01' });
    expect(opened.spanId)
      .to.match(/^[0-9a-f]{16}$/)
      .and.not.equal('b7ad6b7169203331');
    expect(traceparentOf(opened)).to.equal(`00-${trace}-${opened.spanId}-01`);
  });

  it('starts a new trace for anything that is not a trace context', () => {
    const bad = [
      undefined,
      null,
      7,
      ['x'],
      '',
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `ff-${trace}-b7ad6b7169203331-01`,
      `00-${trace.toUpperCase()}-b7ad6b7169203331-01`,
      `00-${trace}-b7ad6b7169203331-01-extra`,
      `00-${trace}-b7ad6b7169203331`,
      ` 00-${trace}-b7ad6b7169203331-01`,
      `00-${trace}-b7ad6b7169203331-01\n`,
      `01-${trace}-b7ad6b7169203331-01-${'x'.repeat(300)}`,
    ];
    for (const header of bad) {
      const opened = openTrace(header);
      expect(opened.traceId, String(header))
        .to.match(/^[0-9a-f]{32}$/)
        .and.not.equal(trace);
      expect(opened.flags).to.equal('00');
    }
  });

  it('reads a later version with more fields by the part it knows', () => {
    expect(openTrace(`01-${trace}-b7ad6b7169203331-01-more`).traceId).to.equal(trace);
  });

  it('never gives an id twice', () => {
    const ids = Array.from({ length: 2_000 }, () => openTrace()).flatMap(({ traceId, spanId }) => [traceId, spanId]);
    expect(new Set(ids)).to.have.property('size', ids.length);
    expect(ids.filter((id) => !/^(?:[0-9a-f]{16}){1,2}$/.test(id))).to.deep.equal([]);
  });

  it('reads back every header it writes', () => {
    fc.assert(
      fc.property(fc.constant(null), () => {
        const opened = openTrace();
        expect(openTrace(traceparentOf(opened)).traceId).to.equal(opened.traceId);
      }),
      { numRuns: 50 },
    );
  });
});

describe('metrics', () => {
  it('renders every measure in the Prometheus text format', async () => {
    const metrics = createMetrics();
    metrics.requestDone('GET', '/v1/memories/:memory_id', 200, 12);
    metrics.operationDone('memory_search', 'ERR_RATE_LIMITED', 3);
    metrics.elasticDone('search', 'ok', 8);
    metrics.embedQueue({ due: 7, dead: 3, deadBy: { rejected: 2, unavailable: 1, store: 0, other: 0 }, foreign: 4 });
    metrics.reembedUnchecked(12);
    metrics.embedFailed('unavailable');
    metrics.searchDegraded('vector');
    metrics.rateLimited('tenant');
    metrics.shortcutTaken('limits_without_redis');
    const page = await metrics.render();
    for (const line of [
      'hindsight_http_request_duration_seconds_count{method="GET",route="/v1/memories/:memory_id",status="200"} 1',
      'hindsight_http_request_duration_seconds_bucket{le="0.02",method="GET",route="/v1/memories/:memory_id",status="200"} 1',
      'hindsight_operation_duration_seconds_count{operation="memory_search",code="ERR_RATE_LIMITED"} 1',
      'hindsight_elasticsearch_duration_seconds_count{call="search",outcome="ok"} 1',
      'hindsight_embed_queue_records{state="due"} 7',
      'hindsight_embed_queue_records{state="dead"} 3',
      'hindsight_embed_queue_records{state="foreign"} 4',
      'hindsight_embed_dead_letters{reason="rejected"} 2',
      'hindsight_embed_dead_letters{reason="store"} 0',
      'hindsight_reembed_unchecked_records 12',
      'hindsight_embed_errors_total{reason="unavailable"} 1',
      'hindsight_degraded_searches_total{part="vector"} 1',
      'hindsight_rate_limited_total{bucket="tenant"} 1',
      'hindsight_shortcuts_total{name="limits_without_redis"} 1',
    ])
      expect(page).to.contain(line);
    expect(page).to.contain('nodejs_eventloop_lag_seconds').and.to.contain('process_cpu_user_seconds_total');
    expect(metrics.contentType).to.contain('text/plain');
  });

  it('counts what does not look like a name, and too many names, as other', async () => {
    const metrics = createMetrics();
    for (const route of ['tenant acme', 'a"}\nevil 1', 'x'.repeat(200), '王']) metrics.requestDone('GET', route, 200, 1);
    metrics.requestDone('BREW', '/x', 1_000, 1);
    for (let i = 0; i < 400; i += 1) metrics.operationDone(`op_${i}`, 'OK', 1);
    const page = await metrics.render();
    expect(page).to.contain('_count{method="GET",route="other",status="200"} 4');
    expect(page).to.contain('_count{method="other",route="/x",status="other"} 1');
    expect(page).to.not.match(/acme|evil|王/);
    expect(page.match(/operation_duration_seconds_count/g)).to.have.length(151);
  });

  it('keeps each instance to itself', async () => {
    const [a, b] = [createMetrics(), createMetrics()];
    a.searchDegraded('vector');
    expect(await b.render()).to.not.contain('part="vector"');
  });
});
