import { expect } from 'chai';
import { rankContext } from '../../../src/ranking/context.ts';
import { fuse, relevance } from '../../../src/ranking/fuse.ts';
import { signalsOf } from '../../../src/ranking/signal-ranks.ts';
import { datesIn, exactIn } from '../../../src/ranking/wordings.ts';
import { ASKED_AT_MS, en, SPECS, specOf, zh } from '../../support/search-specs.ts';
import { hitOf, recordOf } from '../../support/hits.ts';

const DAY_MS = 86_400_000;

describe('two wordings of a question', () => {
  it('give the dates of both, each once, and ask for the latest when one of them does', () => {
    const found = datesIn(['what did she say yesterday', 'What did Ana say on 4 May 2024 or on 1 March 2024, latest?'], ASKED_AT_MS);
    expect(found.day).to.deep.equal([
      [Date.UTC(2024, 4, 4), Date.UTC(2024, 4, 5)],
      [Date.UTC(2024, 2, 1), Date.UTC(2024, 2, 1) + DAY_MS],
    ]);
    expect(found.recent).to.equal(true);
    expect(datesIn(['last tea', 'tea'], ASKED_AT_MS).recent).to.equal(false);
  });

  it('want codes and phrases by wording, the same ones once', () => {
    expect(exactIn(['order A-8841?', 'A-8841 please'])).to.deep.equal([[{ kind: 'code', code: 'a-8841' }]]);
    expect(exactIn(['order A-8841?', 'the order “green tea set”', 'nothing'])).to.have.length(2);
    expect(exactIn(['nothing', 'of note'])).to.deep.equal([]);
  });

  it('are short, and speak of somebody by name, as one question would be', () => {
    const weights = (query: string, also: string) => rankContext(specOf({ query, also, vectors: [en(), zh()] }));
    expect(weights('绿茶', '红茶').short).to.equal(true);
    expect(weights('绿茶', '小明喜欢喝哪种绿茶').short, 'the longer one tells enough').to.equal(false);
    expect(weights('and what does she like', 'What does Caroline like').weights['vector']).to.equal(0.65);
    expect(weights('她喜欢什么', 'What does Caroline like').weights['vector']).to.equal(0.7);
  });

  it('trust meaning more where both are of three sentences or more', () => {
    const share = (query: string, also?: string): number | undefined =>
      rankContext(specOf({ query, vectors: [zh()], ...(also === undefined ? {} : { also }) })).weights['vector'];
    const long = '今天天气真好。我想出去走走。你觉得我该带 v2.3 的伞吗？';
    expect(share('我该带伞吗？')).to.equal(0.7);
    expect(share('今天天气真好。我该带伞吗？'), 'two sentences').to.equal(0.7);
    expect(share(long)).to.equal(0.8);
    expect(share('I met Ana. She was late. Does Tom know?'), 'although it names somebody').to.equal(0.8);
    expect(share(long, '带伞')).to.equal(0.7);
  });

  it('tell by hit how well the words of each fit, with codes as many as the better one has', () => {
    const spec = SPECS.twoWordings;
    const one = recordOf({ memory_id: 'one' });
    const [hit] = fuse(
      { hits: [hitOf(spec, one, { cos: 0.9, lex: 8, exact: 120, named: { lex_2: 8, rescue: 878.75 } })], tookMs: 1 },
      spec,
    );
    expect(hit?.wordings).to.deep.equal([null, 8]);
    expect(hit?.parts.find(({ signal }) => signal === 'exact')?.normalised).to.equal(1);
    const [single] = fuse({ hits: [hitOf(SPECS.dated, one, { cos: 0.9, lex: 8 })], tookMs: 1 }, SPECS.dated);
    expect(single).not.to.have.property('wordings');
  });

  it('are answered by what holds most of the words of either', () => {
    const weak = { ...specOf({ query: 'tea', vectors: [] }) };
    const ranked = fuse(
      { hits: [hitOf(weak, recordOf({ memory_id: 'one', content: 'the ferry leaves at noon' }), { lex: 1 })], tookMs: 1 },
      weak,
    );
    const judged = ranked.map(({ byWords: _byWords, ...hit }) => hit);
    const rule = { query: 'and when does that go', floor: 0.9 };
    expect(relevance(judged, rule).nothingRelevant).to.equal(true);
    expect(relevance(judged, { ...rule, also: 'When does the ferry leave?' }).nothingRelevant).to.equal(false);
  });
});

describe('the place of a hit by one signal alone', () => {
  const part = (signal: string, normalised: number | null, weight = 0.5) => ({
    signal,
    raw: normalised,
    normalised: normalised ?? 0,
    weight,
    contribution: (normalised ?? 0) * weight,
    sentence: signal,
  });
  const hits = [
    { parts: [part('vector', 0.5), part('date', null), part('redundancy', 0.4, -0.1)] },
    { parts: [part('vector', 0.9), part('date', 1), part('redundancy', 0.1, -0.1)] },
    { parts: [part('vector', 0.5), part('date', 0.2)] },
  ];
  const ranks = (at: number) => Object.fromEntries(signalsOf(hits[at] ?? { parts: [] }, hits).map(({ signal, rank }) => [signal, rank]));

  it('counts the candidates with a better value, and none where the signal had no part', () => {
    expect(ranks(0)).to.deep.equal({ vector: 2, date: null, redundancy: 2 });
    expect(ranks(1)).to.deep.equal({ vector: 1, date: 1, redundancy: 1 });
    expect(ranks(2)).to.deep.equal({ vector: 2, date: 2 });
  });
});
