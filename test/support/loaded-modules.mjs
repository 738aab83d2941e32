/** For `node --import`: writes the address of every ES module that is loaded, one a line, to the file that LOADED_MODULES names. */
import { register } from 'node:module';

const hook = `
import { appendFileSync } from 'node:fs';
export async function load(url, context, nextLoad) {
  appendFileSync(process.env.LOADED_MODULES, url + '\\n');
  return nextLoad(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
