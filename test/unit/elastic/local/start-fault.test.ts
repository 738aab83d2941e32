/** The cause of a failed start, read from lines that Elasticsearch really writes. */
import { expect } from 'chai';
import { explainStart, startError } from '../../../../src/elastic/local/start-fault.ts';

const context = { dataDir: '/data', logPath: '/data/logs/elasticsearch.log', httpPort: 9250, heapMb: 1024 };

const CASES: readonly [kind: string, log: string, sentence: RegExp][] = [
  [
    'locked',
    'java.lang.IllegalStateException: failed to obtain node locks, tried [/data/elasticsearch]; maybe these locations are not writable or multiple nodes were started on the same data path?\n' +
      'Caused by: org.apache.lucene.store.LockObtainFailedException: Lock held by another program: /data/elasticsearch/node.lock',
    /Another Elasticsearch is using the data directory \/data: stop it/,
  ],
  [
    'port',
    'org.elasticsearch.http.BindHttpException: Failed to bind to 127.0.0.1:9250\nCaused by: java.net.BindException: Address already in use',
    /Port 9250/,
  ],
  ['downgrade', 'java.lang.IllegalStateException: cannot downgrade a node from version [9.0.8] to version [8.19.9]', /written by a newer/],
  ['downgrade', 'Caused by: java.lang.IllegalArgumentException: indexCreatedVersionMajor is in the future: 10', /written by a newer/],
  ['disk', 'java.io.IOException: No space left on device', /disk that holds \/data is full/],
  [
    'memory',
    'Error occurred during initialization of VM\nCould not reserve enough space for 1048576KB object heap',
    /not enough memory .*heap 1024 MB/,
  ],
  ['permission', 'java.nio.file.AccessDeniedException: /data/elasticsearch/node.lock', /can't be written/],
  [
    'unknown',
    'java.lang.RuntimeException: outer\n\tat a.b.C(D.java:1)\nCaused by: java.lang.IllegalArgumentException: unknown setting [x.y]\n\t... 7 more\n',
    /\(java\.lang\.IllegalArgumentException: unknown setting \[x\.y\]\): see \/data\/logs\/elasticsearch\.log$/,
  ],
  ['unknown', '', /it left no message/],
];

describe('explainStart', () => {
  for (const [kind, log, sentence] of CASES) {
    it(`knows ${kind} from "${log.split('\n')[0]?.slice(0, 60)}"`, () => {
      const fault = explainStart(log, context);
      expect(fault.kind).to.equal(kind);
      expect(fault.detail).to.match(sentence);
      expect(fault.detail).not.to.contain('\n');
    });
  }

  it('keeps the sentence short whatever the log holds', () => {
    expect(explainStart(`Caused by: ${'x'.repeat(5000)}`, context).detail.length).to.be.below(400);
  });
});

describe('startError', () => {
  it('has a code for a full disk of its own and carries the log as its cause', () => {
    const disk = startError(explainStart('No space left on device', context), 'the log');
    expect(disk.code).to.equal('ERR_ENGINE_DISK');
    expect(disk.cause).to.have.property('message', 'the log');
    expect(startError(explainStart('', context), '').code).to.equal('ERR_ENGINE_START');
  });
});
