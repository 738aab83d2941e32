/** The service in the foreground, from the checks before the start to its end: what `serve` does. */
import { composeService, type Service } from '../compose.ts';
import type { Config } from '../config.ts';
import { systemClock } from '../domain/clock.ts';
import type { Progress } from '../elastic/local/artifacts.ts';
import { HindsightError } from '../errors.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { banner } from './banner.ts';
import { openDataDir } from './data-dir.ts';
import { createNarrator } from './narrator.ts';
import { assertPortFree } from './port.ts';
import { isAlive, readRunFile, removeRunFile, writeRunFile } from './run-file.ts';
import { openServiceLog } from './service-log.ts';
import { listenForStop } from './stop-signal.ts';

interface Voice {
  readonly logger: Logger;
  progress(progress: Progress): void;
  say(line: string): void;
  quiet(): void;
}

/**
 * Runs until a signal asks for the end; resolves to the exit code. Throws the one error that kept the service from starting:
 * ERR_DATA_DIR, ERR_ALREADY_RUNNING, ERR_PORT_IN_USE, or what composeService throws.
 */
export async function runService(config: Config): Promise<number> {
  openDataDir(config.dataDir);
  const running = readRunFile(config.dataDir);
  if (running !== undefined && (await isAlive(running))) throw new HindsightError('ERR_ALREADY_RUNNING', { params: { pid: running.pid } });
  await assertPortFree(config.port, config.host);

  const voice = openVoice(config);
  const stop = listenForStop(() => voice.say('- stopping … (Ctrl-C again: at once)'));
  // However this process ends: another program must not find a service that is gone.
  process.once('exit', () => removeRunFile(config.dataDir, process.pid));
  process.once('uncaughtException', (err) => {
    voice.logger.fatal({ err }, 'unexpected fault, the service ends');
    process.exit(1);
  });

  const starting = composeService(config, { clock: systemClock, logger: voice.logger, onProgress: (p) => voice.progress(p) });
  // Given up half-way, the process just leaves: nothing has been acknowledged, and the engine ends with its parent.
  const service = await Promise.race([starting, stop.asked]);
  voice.quiet();
  if (typeof service === 'number') process.exit(service);
  try {
    announce(config, service, voice);
    await stop.asked;
  } finally {
    removeRunFile(config.dataDir, process.pid);
    await service.close();
  }
  voice.say('- stopped');
  return 0;
}

function announce(config: Config, service: Service, voice: Voice): void {
  const seconds = performance.now() / 1_000; // since the start of the process, so that loading the program counts
  const { localTokens, engine, embedding, url } = service;
  if (localTokens === undefined) {
    voice.say(`- ready at ${url} (${seconds.toFixed(1)} s; ${engine}; ${embedding})`);
    return;
  }
  const run = { url, token: localTokens.user, agent_token: localTokens.agent, pid: process.pid };
  writeRunFile(config.dataDir, run);
  process.stdout.write(banner({ run, dataDir: config.dataDir, engine, embedding, seconds }, process.stdout.isTTY));
}

/** At a terminal: steps and warnings for a person, the log in a file. Anywhere else: the log alone, as JSON lines on stderr. */
function openVoice(config: Config): Voice {
  if (!process.stderr.isTTY) {
    const logger = createLogger(config);
    const tell = (fields: object, line: string): void => logger.info(fields, line);
    return {
      logger,
      progress: ({ phase, message }) => tell({ phase }, message),
      say: (line) => tell({}, line.replace(/^- /, '')),
      quiet: () => undefined,
    };
  }
  const narrator = createNarrator((text) => process.stderr.write(text));
  const log = openServiceLog(config.dataDir, (line) => narrator.say(line));
  return {
    logger: createLogger(config, log),
    progress: (p) => narrator.progress(p),
    say: (line) => narrator.say(line),
    quiet: () => narrator.stop(),
  };
}
