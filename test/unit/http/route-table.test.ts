import { expect } from 'chai';
import type { Route, RouteMethod } from '../../../src/http/request-state.ts';
import { createRouteTable } from '../../../src/http/route-table.ts';

describe('http/route-table', () => {
  const route = (method: RouteMethod, path: string): Route => ({
    method,
    path,
    access: 'token',
    bodyLimitBytes: 0,
    describe: () => ({}),
    handle: async () => undefined,
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

  it('takes no route of another path where two paths fit', () => {
    const [get, post] = [route('GET', '/a/:x/b'), route('POST', '/a/:x/b')];
    const table = createRouteTable([get, route('POST', '/a/c/:y'), post, route('PUT', '/a/c/:y')]);
    expect(table.find('GET', '/a/c/b').route).to.equal(get);
    expect(table.find('POST', '/a/c/b').route).to.equal(post);
    expect(table.find('PUT', '/a/c/b')).to.deep.include({ route: undefined, methods: ['GET', 'HEAD', 'POST', 'OPTIONS'] });
  });
});
