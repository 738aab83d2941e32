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
});
