/** Runs Maven once to fetch the engine's and the models' jars, turning its chatter into progress and its faults into sentences. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { HindsightError } from '../../errors.ts';

const PROGRESS_EVERY_MS = 2_000;
const OUTPUT_TAIL_CHARS = 16_000;

export interface MavenRun {
  readonly pomPath: string;
  /** Where Maven's output is left when it fails. */
  readonly logPath: string;
  readonly properties: Readonly<Record<string, string>>;
  /** Environment of Maven (PATH, HOME, JAVA_HOME); the process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Called every two seconds with what has been fetched so far. */
  readonly onProgress: (message: string) => void;
}

/** Runs phase generate-resources of the pom. Throws ERR_ENGINE_MAVEN, or ERR_ENGINE_DISK when the disk is full. */
export async function runMaven(run: MavenRun): Promise<void> {
  const args = ['-B', '-f', run.pomPath, ...Object.entries(run.properties).map(([key, value]) => `-D${key}=${value}`)];
  args.push('generate-resources');
  const windows = process.platform === 'win32';
  const child = spawn(windows ? 'mvn.cmd' : 'mvn', windows ? args.map((arg) => `"${arg}"`) : args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: windows, // Node refuses to start a .cmd file without a shell
    ...(run.env === undefined ? {} : { env: run.env }),
  });
  const downloads = new DownloadCount();
  let output = '';
  const startedAt = performance.now();
  const timer = setInterval(() => {
    run.onProgress(downloads.describe(Math.round((performance.now() - startedAt) / 1000)));
  }, PROGRESS_EVERY_MS);
  const read = (chunk: string): void => {
    output = (output + chunk).slice(-OUTPUT_TAIL_CHARS);
    downloads.read(chunk);
  };
  child.stdout.setEncoding('utf8').on('data', read);
  child.stderr.setEncoding('utf8').on('data', read);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', (error) => reject(mavenMissing(error)));
      child.on('close', resolve);
    });
    if (code !== 0) {
      await writeFile(run.logPath, output);
      throw mavenFault(output, run.logPath);
    }
  } finally {
    clearInterval(timer);
  }
}

/** Counts Maven's "Downloaded from" lines; chunks may cut a line anywhere. */
export class DownloadCount {
  private rest = '';
  private files = 0;
  private bytes = 0;
  private current = '';

  /** Takes in the next piece of output. */
  read(chunk: string): void {
    const lines = (this.rest + chunk).split(/\r?\n/);
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      // [INFO] Downloaded from central: https://host/path/name.jar (18 MB at 9.1 MB/s)
      const match = /\b(Downloading|Downloaded) from [^:]+: \S*\/([^/\s]+)(?: \(([\d.]+) ([kMG]?B))?/.exec(line);
      if (!match) continue;
      if (match[1] === 'Downloading') {
        this.current = match[2] ?? '';
      } else {
        this.files += 1;
        this.bytes += Number(match[3] ?? 0) * (UNIT_BYTES[match[4] ?? 'B'] ?? 1);
      }
    }
  }

  describe(seconds: number): string {
    if (this.files === 0 && this.current === '') return `Maven is working (${seconds} s)`;
    return `fetched ${this.files} files, ${(this.bytes / 1e6).toFixed(1)} MB (${seconds} s, now ${this.current})`;
  }
}

const UNIT_BYTES: Readonly<Record<string, number>> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };

function mavenMissing(cause: unknown): HindsightError {
  const detail =
    'Maven (mvn) was not found, and it fetches the local Elasticsearch: install it (Debian and Ubuntu: apt install maven; ' +
    'macOS: brew install maven; Windows: choco install maven) or set ELASTICSEARCH_URL to use your own cluster';
  return new HindsightError('ERR_ENGINE_MAVEN', { params: { detail }, cause });
}

/** The error for a Maven that ran and failed, judged from its output, the end of which is kept at `logPath`. Pure. */
export function mavenFault(output: string, logPath: string): HindsightError {
  const cause = new Error(output.trim());
  if (/is not recognized as an internal/.test(output)) return mavenMissing(cause); // the shell's words on Windows
  if (/No space left on device/i.test(output)) {
    const detail = 'The disk is full while fetching the local Elasticsearch: free 1 GB and start again';
    return new HindsightError('ERR_ENGINE_DISK', { params: { detail }, cause });
  }
  const detail = /JAVA_HOME[^\n]*not (defined|set)/i.test(output)
    ? 'Maven found no Java: set JAVA_HOME to a JDK and start again'
    : /Could not transfer|Unknown host|Could not resolve|could not be resolved|timed out|refused/i.test(output)
      ? `Maven could not download the local Elasticsearch: check the network, the proxy and the mirror in Maven’s settings.xml, and start again (Maven’s own words are in ${logPath})`
      : `Maven failed while preparing the local Elasticsearch: its own words are in ${logPath}`;
  return new HindsightError('ERR_ENGINE_MAVEN', { params: { detail }, cause });
}
