/** A new value told in everyday words, without a kind: it takes the place of the one before it, as with one. */
import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import { createWorld, type World } from '../../support/memory-world.ts';

async function outcomes(world: World, texts: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const content of texts) found.push((await world.memory.write({ content }, world.call())).results[0]?.outcome ?? 'none');
  return found;
}

function active(world: World): readonly MemoryRecord[] {
  return [...world.index.heads.values()].map(({ record }) => record).filter(({ status }) => status === 'active');
}

const CHANGED: readonly (readonly [string, string])[] = [
  ['Ana lives in Berlin.', 'Ana moved to Munich.'],
  ['I live in Berlin.', "I've moved to Munich."],
  ['Ana works at Siemens.', 'Ana joined Bosch.'],
  ['Ana works at Siemens.', 'Ana now works at Bosch.'],
  ['The deadline is Friday.', 'The deadline was moved to Monday.'],
  ['The grant deadline is Friday.', "The grant's deadline was moved to Monday."],
  ['The report deadline is Friday.', 'The report deadline was moved to Monday.'],
  ['The timeout of the gateway is 30 seconds.', 'The timeout of the gateway was raised to 60 seconds.'],
  ['The port is 8080.', 'The port was changed to 9090.'],
  ['The meeting is on Tuesday.', 'The meeting was postponed to Thursday.'],
  ['我住在北京。', '我搬到上海了。'],
  ['小王在华为工作。', '小王跳槽去了腾讯。'],
  ['会议在周二。', '会议改到周四了。'],
  ['截止日期是周五。', '截止日期改到下周一。'],
  ['小李的工位在三楼。', '小李的工位搬到五楼了。'],
];

const OTHER: readonly (readonly [string, string])[] = [
  ['Ana lives in Berlin.', 'Bo moved to Munich.'],
  ['Ana lives in Munich.', 'I moved to Rome in 2019.'],
  ['The grant deadline is Friday.', 'The thesis deadline was moved to Monday.'],
  ['The deadline is Friday.', 'The port was changed to 9090.'],
  ['小王住在北京。', '小李搬到上海了。'],
];

describe('a new value told without a kind', () => {
  for (const [before, after] of CHANGED)
    it(`takes the place of the one before it: ${before} / ${after}`, async () => {
      const world = createWorld();
      expect(await outcomes(world, [before, after])).to.deep.equal(['stored', 'replaced']);
      expect(active(world).map(({ content, layer }) => ({ content, layer }))).to.deep.equal([{ content: after, layer: 'semantic' }]);
    });

  for (const [before, after] of OTHER)
    it(`stands beside the value of another one: ${before} / ${after}`, async () => {
      const world = createWorld();
      expect(await outcomes(world, [before, after])).to.deep.equal(['stored', 'stored']);
      expect(active(world)).to.have.length(2);
    });
});
