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
  ['We use MySQL.', 'We switched to Postgres.'],
  ['We use MySQL 8.', 'We have migrated to PostgreSQL 16.'],
  ['Our database is MySQL.', 'We moved to Postgres.'],
  ['The team uses Jira.', 'The team switched to Linear.'],
  ['I use Chrome.', 'I ditched Chrome for Firefox.'],
  ['We run on AWS.', 'We migrated to Hetzner.'],
  ['我们的数据库是MySQL。', '我们的数据库换成了Postgres。'],
  ['我们用MySQL。', '我们把所有服务从MySQL迁移到了TiDB。'],
  ['We switched to Slack.', 'We switched to Discord.'],
  ['Our database is MySQL.', 'We switched our database to Postgres.'],
  ['The deadline is Friday.', 'We moved the deadline to Monday.'],
  ['The standup is at 9:30.', 'We moved the standup to 10:00.'],
  ['评审会在周三。', '我们把评审会改到周四了。'],
  ['The backend uses MySQL.', 'The backend was migrated to Postgres.'],
  ['我用iPhone。', '我换成安卓了。'],
  ['我们用 MySQL。', '上个月我们改用了 Postgres。'],
  ['The budget is 5000 euros.', 'They raised the budget to 8000 euros.'],
  ['我们用 MySQL。', '我们改用 Postgres 了。'],
  ['我们用MySQL', '我们从 MySQL 迁移到了 TiDB'],
  ['团队使用的是Jira。', '团队换成禅道了。'],
  ['我们的数据库是MySQL。', '我们改用 Postgres 了。'],
  ['我们的服务跑在阿里云上。', '我们的服务迁移到腾讯云了。'],
  ['我们的数据库是MySQL。', '我们把数据库换成了 Postgres。'],
  ['截止日期是周五。', '我们把截止日期推迟到下周一了。'],
  ['The report is due on Thursday.', 'The report deadline moved to Friday.'],
  ['The report is due on Thursday.', 'We moved the report deadline to Friday.'],
  ['The report is due on Thursday.', 'We moved the deadline for the report to Friday.'],
  ['The marketing budget is 5000 euros.', 'They raised the marketing budget to 8000 euros.'],
  ['The staging database port is 5432.', 'We changed the staging database port to 5433.'],
  ['报告周四截止。', '我们把报告的截止日期推迟到周五了。'],
  ['I use Chrome.', 'I switched to Edge.'],
  ['I use Chrome.', 'I switched from Chrome to edge.'],
  ['我用 Chrome。', '我改用 edge 了。'],
  ['We use Jenkins.', 'We switched to drone ci.'],
  ['We use Jest.', 'We replaced Jest with Ava.'],
];

/** Both may hold: nothing is left that is not said to be left, or is another kind of thing. */
const BESIDE: readonly (readonly [string, string])[] = [
  ['We use Redis.', 'We switched to Postgres.'],
  ['We use Kafka.', 'We use RabbitMQ too.'],
  ['We use MySQL.', 'We use Postgres.'],
  ['We use MySQL.', 'We switched to Kubernetes.'],
  ['We use MySQL.', 'The analytics team switched to Postgres.'],
  ['We use MySQL.', 'We switched from SQLite to Postgres.'],
  ['We use MySQL.', 'We are considering switching to Postgres.'],
  ['We use MySQL.', 'We did not switch to Postgres.'],
  ['We use MySQL.', 'We switched to Postgres for analytics.'],
  ['I use Firefox.', 'I moved to Chrome Street.'],
  ['我们用 Redis。', '我们改用 Postgres 了。'],
  ['我们用 MySQL。', '我们打算改用 Postgres。'],
  ['我们用 MySQL。', '数据组改用 Postgres 了。'],
  ['我们用飞书。', '我们也用钉钉。'],
  ['我们用 MySQL。', '我们没有换成 Postgres。'],
  // an edge, a drone, and somebody called Ava
  ['I use Chrome.', 'I moved to the edge.'],
  ['We use Jenkins.', 'We switched to drone.'],
  ['We use Jest.', 'We switched to Ava.'],
  ['We use Jenkins.', 'We have moved on to Travis.'],
];

const OTHER: readonly (readonly [string, string])[] = [
  ['Ana lives in Berlin.', 'Bo moved to Munich.'],
  ['Ana lives in Munich.', 'I moved to Rome in 2019.'],
  ['The grant deadline is Friday.', 'The thesis deadline was moved to Monday.'],
  ['The deadline is Friday.', 'The port was changed to 9090.'],
  ['The report is due on Thursday.', 'We moved the thesis deadline to Friday.'],
  ['The marketing budget is 5000 euros.', 'They raised the travel budget to 8000 euros.'],
  ['论文周四截止。', '我们把报告的截止日期推迟到周五了。'],
  ['小王住在北京。', '小李搬到上海了。'],
];

describe('a new value told without a kind', () => {
  for (const [before, after] of CHANGED)
    it(`takes the place of the one before it: ${before} / ${after}`, async () => {
      const world = createWorld();
      expect(await outcomes(world, [before, after])).to.deep.equal(['stored', 'replaced']);
      expect(active(world).map(({ content, layer }) => ({ content, layer }))).to.deep.equal([{ content: after, layer: 'semantic' }]);
    });

  for (const [before, after] of BESIDE)
    it(`stands beside what may hold as well: ${before} / ${after}`, async () => {
      const world = createWorld();
      await outcomes(world, [before, after]);
      expect(active(world).map(({ content }) => content)).to.include(before);
    });

  for (const [before, after] of OTHER)
    it(`stands beside the value of another one: ${before} / ${after}`, async () => {
      const world = createWorld();
      expect(await outcomes(world, [before, after])).to.deep.equal(['stored', 'stored']);
      expect(active(world)).to.have.length(2);
    });
});
