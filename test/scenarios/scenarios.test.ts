/** Every scenario file through REST and through MCP on the composed service, with the same expectations. */
import { systemClock } from '../../src/domain/clock.ts';
import { loadScenarios, runScenario, type ScenarioWorld } from '../support/scenario.ts';
import { mcpFrontEnd, restFrontEnd } from '../support/scenario-front-ends.ts';
import { startService } from '../support/service.ts';

const scenarios = loadScenarios(new URL('.', import.meta.url).pathname);

describe('scenarios', () => {
  let world: ScenarioWorld;
  let aheadMs = 0;

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
      it('through REST', () => runScenario(world, scenario, world.rest, `${i}r`));
      it('through MCP', () => runScenario(world, scenario, world.mcp, `${i}m`));
    });
  }
});
