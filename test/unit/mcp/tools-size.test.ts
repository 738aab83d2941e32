import { expect } from 'chai';
import { SCOPES } from '../../../src/domain/principal.ts';
import { createTools } from '../../../src/mcp/tools.ts';
import { operations } from '../../../src/operations/index.ts';

/** Bytes of tools/list for a caller with every scope: what each prompt of a client carries. */
function sizeOf(tools: 'default' | 'all'): number {
  return Buffer.byteLength(JSON.stringify({ tools: createTools(operations, { prefix: '', tools }).list(new Set(SCOPES)) }));
}

describe('mcp/tools: size of the list', () => {
  it('is at most 8 kB by default and 16 kB with every tool', () => {
    expect(sizeOf('default')).to.be.at.most(8_000);
    expect(sizeOf('all')).to.be.at.most(16_000);
  });
});
