/** Every field that takes a date, fuzzed against the composed service: a date is read by us and by the engine alike, or refused with a pointer. */
import { expect } from 'chai';
import fc from 'fast-check';
import { startHashedService, type Answer, type HashedService } from '../support/service.ts';

const ABSENT = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

/** Dates near the edges of what the wire, JavaScript and java.time take; most are sound in every part but one. */
const date = fc
  .tuple(
    fc.constantFrom('2026', '1000', '0999', '0000', '9998', '9999', '12345', '292278995', '-0001', '+002026', '26'),
    fc.constantFrom('01', '12', '02', '00', '13', '1'),
    fc.constantFrom('01', '28', '31', '29', '00', '32'),
    fc.constantFrom('T00:00', 'T23:59', 'T24:00', 'T12:60', 't12:00', ' 12:00', ''),
    fc.constantFrom('', ':00', ':59', ':60', ':5'),
    fc.oneof(
      fc.constant(''),
      fc.integer({ min: 1, max: 30 }).map((digits) => `.${'7'.repeat(digits)}`),
      fc.constantFrom('.', ',5', '.1e3', '.٣'),
    ),
    fc.constantFrom(
      'Z',
      'z',
      '',
      '+00:00',
      '-00:00',
      '+14:00',
      '-18:00',
      '+18:00',
      '+18:01',
      '+23:59',
      '-23:59',
      '+24:00',
      '+99:99',
      '+0200',
      '+02',
    ),
  )
  .map((parts) => parts.join(''));
/** One part off at most: otherwise nearly all would be refused for several reasons at once. */
const nearlySound = fc
  .tuple(
    fc.constantFrom('2026-03-01T12:00:00', '1000-01-01T00:00', '9998-12-31T23:59:59', '2024-02-29T00:00:00', '2026-02-30T00:00:00'),
    fc.integer({ min: 0, max: 30 }).map((digits) => (digits === 0 ? '' : `.${'7'.repeat(digits)}`)),
    fc.tuple(fc.constantFrom('+', '-'), fc.integer({ min: 0, max: 25 }), fc.integer({ min: 0, max: 61 })),
  )
  .map(([base, fraction, [sign, h, m]]) => {
    const two = (n: number): string => String(n).padStart(2, '0');
    return `${base}${/:\d\d:\d\d$/.test(base) ? fraction : ''}${h === 0 && m === 0 ? 'Z' : `${sign}${two(h)}:${two(m)}`}`;
  });
const anyDate = fc.oneof(date, nearlySound, fc.string({ maxLength: 40 }));

describe('dates', function () {
  this.timeout(120_000);
  let service: HashedService;
  let token: string;
  before(async () => {
    service = await startHashedService({});
    token = await service.mint({ sub: 'dated' });
    await service.call('POST', '/v1/memories', token, { content: 'Something dated.', occurred_at: '2026-03-01T12:00:00Z', wait: true });
  });
  after(() => service.close());

  const post = (path: string, body: unknown): Promise<Answer> => service.call('POST', path, token, body);
  const fields: Readonly<
    Record<string, { readonly at: string; readonly call: (value: string) => Promise<Answer>; readonly fine: number }>
  > = {
    'occurred_at of a write': {
      at: '/occurred_at',
      call: (occurred_at) => post('/v1/memories', { content: `Dated ${occurred_at.replace(/[^\d:T.-]/g, '')}.`, occurred_at }),
      fine: 200,
    },
    'occurred_at of an update': {
      at: '/occurred_at',
      call: (occurred_at) => service.call('PATCH', `/v1/memories/${ABSENT}`, token, { occurred_at }),
      fine: 404,
    },
    'expires_at of an update': {
      at: '/expires_at',
      call: (expires_at) => service.call('PATCH', `/v1/memories/${ABSENT}`, token, { expires_at }),
      fine: 404,
    },
    'asked_at of a search': { at: '/asked_at', call: (asked_at) => post('/v1/memories/search', { query: 'dated', asked_at }), fine: 200 },
    'filter.created.gte of a search': {
      at: '/filter/created/gte',
      call: (gte) => post('/v1/memories/search', { query: 'dated', filter: { created: { gte } } }),
      fine: 200,
    },
    'filter.occurred.lt of a search': {
      at: '/filter/occurred/lt',
      call: (lt) => post('/v1/memories/search', { query: 'dated', filter: { occurred: { lt } } }),
      fine: 200,
    },
    'created_lt of a list': {
      at: '/created_lt',
      call: (value) => service.call('GET', `/v1/memories?created_lt=${encodeURIComponent(value)}`, token),
      fine: 200,
    },
    'filter.created.gte of a dry run of forget': {
      at: '/filter/created/gte',
      call: (gte) => post('/v1/memories/forget', { filter: { created: { gte } }, dry_run: true }),
      fine: 200,
    },
  };

  for (const [what, { at, call, fine }] of Object.entries(fields)) {
    it(`are taken or refused by pointer in ${what}, never a fault of ours`, async () => {
      await fc.assert(
        fc.asyncProperty(
          anyDate.filter((value) => !/[\0\ud800-\udfff]/.test(value)),
          async (value) => {
            const { status, body } = await call(value);
            expect(status, `${value}: ${JSON.stringify(body)}`).to.be.oneOf([fine, 400]);
            if (status === 400) expect((body.errors as { pointer: string }[])[0]?.pointer, value).to.equal(at);
          },
        ),
        {
          numRuns: 60,
          examples: [['2026-03-01T12:00:00.1234567890Z'], ['2026-03-01T12:00:00+19:00'], ['0000-01-01T00:00:00Z'], ['2026-03-01T12:00Z']],
        },
      );
    });
  }

  it('are taken with nine digits and the outermost offsets, and refused one step further', async () => {
    const status = async (gte: string) => (await post('/v1/memories/search', { query: 'dated', filter: { created: { gte } } })).status;
    for (const value of [
      '2026-03-01T12:00:00.123456789Z',
      '2026-03-01T12:00:00+18:00',
      '2026-03-01T12:00:00-18:00',
      '1000-01-02T00:00:00Z',
    ])
      expect(await status(value), value).to.equal(200);
    for (const value of [
      '2026-03-01T12:00:00.1234567891Z',
      '2026-03-01T12:00:00+18:01',
      '0000-01-01T00:00:00Z',
      '2026-03-01T12:00:00+99:99',
    ])
      expect(await status(value), value).to.equal(400);
  });
});
