/** Fetches the local embedding models into the folder given as argument: for an image that carries them. Needs the build and Maven. */
import { resolve } from 'node:path';
import { fail, say } from './prepare.mjs';

const [folder] = process.argv.slice(2);
if (folder === undefined) fail('name the folder for the models: node src/bootstrap/models.mjs FOLDER');
const { prepareModels } = await import('../../dist/elastic/local/artifacts.js');
try {
  say(await prepareModels({ cacheDir: resolve(folder), onProgress: ({ message }) => say(`- ${message}`) }));
} catch (error) {
  fail(error.message);
}
