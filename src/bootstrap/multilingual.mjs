/** `npm run model:multilingual`: makes the model of EMBEDDING_PROFILE=local-multilingual in the machine's cache. Needs Python 3.9 or newer, once. */
import { build, checkNode, fail, install, say } from './prepare.mjs';

checkNode();
await install();
await build();
const { cacheDirOf } = await import('../../dist/config/cache-dir.js');
const { makeMultilingual } = await import('../../dist/elastic/local/multilingual.js');
try {
  const folder = await makeMultilingual({ cacheDir: cacheDirOf(process.env), onProgress: ({ message }) => say(`- ${message}`) });
  say(`- the model is in ${folder}; EMBEDDING_PROFILE=local-multilingual uses it`);
} catch (error) {
  fail(error.message);
}
