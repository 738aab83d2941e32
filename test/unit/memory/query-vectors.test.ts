import { expect } from 'chai';
import { queryVectors } from '../../../src/memory/query-vectors.ts';
import { createTestEmbedder, vectorOf } from '../../support/memory-world.ts';

describe('memory/query-vectors', () => {
  const ask = async (query: string, name: string): Promise<readonly number[]> => {
    const request = { query, spaceNames: [name], lastSentence: 0.3 };
    const [found] = (await queryVectors({ embedder: createTestEmbedder() }, request, new AbortController().signal)) ?? [];
    return [...(found?.vector ?? [])];
  };

  it('takes a question with dots in a version, an address or a number for one sentence', async () => {
    for (const query of ['What changed in v2.14.3?', 'Who runs 10.0.0.12?', 'Did it cost 1.234.567 in all?'])
      expect(await ask(query, 'en'), query).to.deep.equal([...vectorOf(query)]);
  });

  it('ends Chinese sentences without a space', async () => {
    const query = '我今天很累。外面在下雨。小王喜欢喝什么茶？';
    expect(await ask(query, 'zh')).to.not.deep.equal([...vectorOf(query)]);
  });

  it('asks the model for nothing that is at hand', async () => {
    const inner = createTestEmbedder();
    const asked: string[] = [];
    const embedder = {
      spaces: inner.spaces,
      spacesForText: (text: string) => inner.spacesForText(text),
      spacesForQuery: (text: string) => inner.spacesForQuery(text),
      kept: (_space: string, text: string) => (text === 'known' ? vectorOf('known') : undefined),
      embed: (...call: Parameters<typeof inner.embed>) => {
        asked.push(...call[1]);
        return inner.embed(...call);
      },
    };
    const vectors = async (query: string) =>
      (await queryVectors({ embedder }, { query, spaceNames: ['en'] }, new AbortController().signal))?.map(({ vector }) => [...vector]);
    expect(await vectors('known')).to.deep.equal([[...vectorOf('known')]]);
    expect(asked).to.deep.equal([]);
    expect(await vectors('unknown')).to.deep.equal([[...vectorOf('unknown')]]);
    expect(asked).to.deep.equal(['unknown']);
  });

  it('answers nobody who has left, not even with what is at hand', async () => {
    const embedder = { ...createTestEmbedder(), kept: () => vectorOf('known') };
    const gone = AbortSignal.abort(new Error('gone'));
    const error = await queryVectors({ embedder }, { query: 'known', spaceNames: ['en'] }, gone).catch((caught: unknown) => caught);
    expect(error).to.have.property('message', 'gone');
  });
});
