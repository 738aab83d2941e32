import { expect } from 'chai';
import fc from 'fast-check';
import { readEvents } from '../../../src/cli/event-stream.ts';

async function* chunks(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const cut of [...cuts.map((c) => c % (bytes.length + 1))].sort((a, b) => a - b)) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
  yield bytes.subarray(from);
}

const eventsOf = async (text: string, cuts: readonly number[] = []): Promise<string[]> => {
  const events: string[] = [];
  for await (const event of readEvents(chunks(Buffer.from(text), cuts))) events.push(event);
  return events;
};

describe('cli/event-stream', () => {
  it('reads the same events wherever the bytes are cut, in the middle of a character too', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.json({ noUnicodeString: false }), { maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        async (values, cuts) => {
          const text = values.map((value) => `event: message\ndata: ${JSON.stringify(`${value}小王`)}\n\n`).join('');
          expect(await eventsOf(text, cuts)).to.deep.equal(values.map((value) => JSON.stringify(`${value}小王`)));
        },
      ),
    );
  });

  it('passes over comments, primers and an event that was cut off, and joins lines of data', async () => {
    expect(await eventsOf(': ping\n\nid: 1\ndata: \n\ndata: {"a":\r\ndata:1}\r\n\r\ndata: {"half"')).to.deep.equal(['{"a":\n1}']);
  });
});
