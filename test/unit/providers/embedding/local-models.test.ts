import { expect } from 'chai';
import fc from 'fast-check';
import { LOCAL_MODELS, LOCAL_PROFILES, LOCAL_ROUTING } from '../../../../src/providers/embedding/local-models.ts';

describe('local vector spaces', () => {
  const routes: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['我喜欢喝绿茶', ['zh'], ['zh']],
    ['I prefer green tea', ['zh', 'en'], ['en', 'zh']],
    ['我用 Docker 部署', ['zh', 'en'], ['zh']],
    ['Élodie wohnt in Köln', ['zh', 'en'], ['en', 'zh']],
    ['A', ['zh'], ['zh']],
    ['5432', ['zh'], ['zh']],
    ['😀', ['zh'], ['zh']],
    ['Привет, мир', ['zh'], ['zh']],
    ['', ['zh'], ['zh']],
  ];
  for (const [text, stored, searched] of routes) {
    it(`stores "${text}" in ${stored.join(' and ')} and asks it of ${searched.join(', then ')}`, () => {
      expect(LOCAL_ROUTING.spacesForText(text)).to.deep.equal(stored);
      expect(LOCAL_ROUTING.spacesForQuery(text)).to.deep.equal(searched);
    });
  }

  it('stores a text in every space in which the same words are searched', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'é', '中', '文', ' ', '1', 'я', '😀') }), (text) => {
        expect(LOCAL_ROUTING.spacesForText(text)).to.include.members([...LOCAL_ROUTING.spacesForQuery(text)]);
      }),
    );
  });

  it('have one for all texts in profile local-multilingual, of which no other profile knows', () => {
    const { models, routing } = LOCAL_PROFILES['local-multilingual'];
    for (const [text] of routes) {
      expect(routing.spacesForText(text)).to.deep.equal(['multi']);
      expect(routing.spacesForQuery(text)).to.deep.equal(['multi']);
    }
    expect(models.map(({ space }) => [space.name, space.field, space.dims])).to.deep.equal([['multi', 'vec_multi', 384]]);
    expect(LOCAL_MODELS.map(({ space }) => space.name)).to.not.include('multi');
  });

  it('names a model, a field and a calibration for each space', () => {
    expect(LOCAL_MODELS.map(({ space }) => [space.name, space.field, space.dims, space.knnBoost])).to.deep.equal([
      ['zh', 'vec_zh', 512, 370],
      ['en', 'vec_en', 384, 950],
    ]);
  });
});
