import { expect } from 'chai';
import { refusalOf } from '../../../src/cli/mcp-frame.ts';

describe('cli/mcp-frame', () => {
  for (const frame of [
    { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    { jsonrpc: '2.0', id: 'a', method: 'tools/list', params: {} },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 0, result: {} },
    { jsonrpc: '2.0', id: 0, error: { code: -1, message: 'no' } },
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'what the client could not read' } },
  ])
    it(`lets ${JSON.stringify(frame)} through`, () => expect(refusalOf(frame)).to.equal(undefined));

  for (const [frame, id] of [
    [{ jsonrpc: '2.0' }, null],
    [{}, null],
    [[], null],
    [[{ jsonrpc: '2.0', id: 1, method: 'ping' }], null],
    ['ping', null],
    [null, null],
    // JSON-RPC 2.0, section 7: "rpc call with invalid Request object"
    [{ jsonrpc: '2.0', method: 1, params: 'bar' }, null],
    [{ jsonrpc: '2.0', id: 7, method: 1 }, 7],
    [{ id: 7, method: 'ping' }, 7],
    [{ jsonrpc: '1.0', id: 7, method: 'ping' }, 7],
    [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }, null],
    [{ jsonrpc: '2.0', id: null, method: 'ping' }, null],
    [{ jsonrpc: '2.0', id: { a: 1 }, method: 'ping' }, null],
    // may be meant as an answer to the service: its id is none of the client's
    [{ jsonrpc: '2.0', id: 7 }, null],
  ] as [unknown, number | null][])
    it(`answers ${JSON.stringify(frame)} with an invalid request`, () => {
      const refused = refusalOf(frame);
      expect(refused).to.deep.include({ jsonrpc: '2.0', id });
      expect(refused?.['error']).to.include({ code: -32600 });
    });
});
