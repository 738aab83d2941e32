/** Every scenario file through REST and through MCP on the composed service, with the same expectations. */
import { expect } from 'chai';
import { systemClock } from '../../src/domain/clock.ts';
import type { AnyOperation } from '../../src/operations/define.ts';
import { operations } from '../../src/operations/index.ts';
import { loadScenarios, runScenario, type Scenario, type ScenarioWorld } from '../support/scenario.ts';
import { mcpFrontEnd, restFrontEnd, type FrontEnd } from '../support/scenario-front-ends.ts';
import { startService } from '../support/service.ts';

const scenarios = loadScenarios(new URL('.', import.meta.url).pathname);

describe('scenarios', () => {
  let world: ScenarioWorld;
  let aheadMs = 0;

  const called = new Map<string, Set<string>>();
  const run = async (scenario: Scenario, front: FrontEnd, name: string): Promise<void> => {
    const names = await runScenario(world, scenario, front, name);
    called.set(front.name, new Set([...(called.get(front.name) ?? []), ...names]));
  };

  before(async function () {
    this.timeout(120_000);
    const service = await startService({ MCP_TOOLS: 'all' }, () => systemClock() + aheadMs);
    world = {
      service,
      rest: restFrontEnd(service),
      mcp: mcpFrontEnd(service),
      advance: (seconds) => {
        aheadMs += seconds * 1_000;
      },
    };
  });

  after(async () => {
    await world.mcp.close();
    await world.service.close();
  });

  for (const [i, scenario] of scenarios.entries()) {
    describe(scenario.title, () => {
      it('through REST', () => run(scenario, world.rest, `${i}r`));
      it('through MCP', () => run(scenario, world.mcp, `${i}m`));
    });
  }

  describe('all together', () => {
    it('call every operation through both front ends', () => {
      const tools = operations.filter(({ mcp }) => mcp.tool !== 'never');
      const names = (all: readonly AnyOperation[]): string[] => all.map(({ name }) => name).sort();
      expect([...(called.get('REST') ?? [])].sort(), 'REST').to.include.members(names(tools));
      expect([...(called.get('MCP') ?? [])].sort(), 'MCP').to.deep.equal(names(tools));
    });
  });
});
