import { expect } from 'chai';
import type { HttpContext, Route, RouteMethod } from '../../../src/http/request-state.ts';
import { createRouteTable } from '../../../src/http/route-table.ts';

describe('http/route-table', () => {
  const ran: string[] = [];
  beforeEach(() => ran.splice(0));

  const route = (method: RouteMethod, path: string): Route => ({
    method,
    path,
    access: 'token',
    bodyLimitBytes: 0,
    describe: () => ({}),
    handle: async () => void ran.push(`${method} ${path}`),
  });

  it('finds the path with the fewest parameters, in whatever order they were declared', () => {
    for (const routes of [
      [route('GET', '/a/:id'), route('POST', '/a/search')],
      [route('POST', '/a/search'), route('GET', '/a/:id')],
    ]) {
      const table = createRouteTable(routes);
      expect(table.find('GET', '/a/search')).to.deep.include({
        route: undefined,
        path: '/a/search',
        methods: ['POST', 'OPTIONS'],
        params: {},
      });
      expect(table.find('GET', '/a/other')).to.deep.include({ path: '/a/:id', params: { id: 'other' } });
    }
  });

  it('answers HEAD by the route of GET', () => {
    const get = route('GET', '/a');
    expect(createRouteTable([get]).find('HEAD', '/a')).to.deep.include({ route: get, methods: ['GET', 'HEAD', 'OPTIONS'] });
  });

  it('hands parameters on as they were sent', () => {
    const table = createRouteTable([route('GET', '/a/:x/b/:y')]);
    expect(table.find('GET', '/a/%ff/b/..%2f').params).to.deep.equal({ x: '%ff', y: '..%2f' });
  });

  it('normalises nothing into a match', () => {
    const table = createRouteTable([route('GET', '/a/b.c'), route('GET', '/a/:id/d')]);
    for (const path of [
      '',
      '*',
      '/',
      '/a/b.c/',
      '/A/b.c',
      '//a/b.c',
      '/a/bxc',
      '/a/./b.c',
      '/a/b%2ec',
      '/a/b.c\n',
      '/a//d',
      '/a/x/d/',
      '/a/x/y/d',
    ])
      expect(table.find('GET', path).path, path).to.equal(undefined);
  });

  it('runs the very route that was found, also where two paths fit', async () => {
    const table = createRouteTable([route('GET', '/a/:x/b'), route('POST', '/a/c/:y'), route('POST', '/a/:x/b'), route('PUT', '/:z/c/b')]);
    for (const method of ['GET', 'POST']) {
      // the part of a context that the router reads
      const ctx = { method, path: '/a/c/b', host: '', request: {}, state: {} } as unknown as HttpContext;
      await table.dispatch(ctx, async () => undefined);
      const { route: found } = table.find(method, '/a/c/b');
      expect(ran.pop()).to.equal(`${found?.method} ${found?.path}`);
    }
    expect(table.find('PUT', '/a/c/b').methods).to.deep.equal(['GET', 'HEAD', 'POST', 'OPTIONS']);
  });
});
