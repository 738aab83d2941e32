/** The command line of the Elasticsearch JVM. */
import { expect } from 'chai';
import { jvmArguments } from '../../../../src/elastic/local/jvm.ts';

const options = {
  jdk: { home: '/jdk', version: '17.0.15', major: 17, hasCompiler: true },
  launcherDir: '/cache/launcher',
  home: '/cache/home',
  dataDir: '/data',
  heapMb: 768,
  httpPort: 9250,
  credentialFile: '/data/engine-credential',
};

describe('jvmArguments', () => {
  const args = jvmArguments(options);
  const settings = args.slice(args.indexOf('Launcher') + 2);

  it('gives the heap and the class path to the JVM', () => {
    expect(args).to.include.members(['-Xms256m', '-Xmx768m']);
    expect(args[args.indexOf('-cp') + 1]).to.equal('/cache/launcher/classes:/cache/home/lib/*');
  });

  it('names the guarded modules first, and keeps JNA out of the home of the user', () => {
    expect(args[args.indexOf('Launcher') + 1]).to.equal('/cache/launcher/modules');
    expect(args).to.include('-Djna.tmpdir=/data/tmp');
  });

  it('asks for no credential only when it is told so', () => {
    expect(jvmArguments({ ...options, credentialFile: undefined }).join(' ')).not.to.contain('credential');
  });

  it('never asks for a first heap above the limit', () => {
    expect(jvmArguments({ ...options, heapMb: 128 })).to.include.members(['-Xms128m', '-Xmx128m']);
  });

  it('passes exactly these node settings', () => {
    expect(settings).to.deep.equal([
      'path.home=/cache/home',
      'path.data=/data/elasticsearch',
      'path.logs=/data/logs',
      'path.repo=/data/snapshots',
      'cluster.name=hindsight-es',
      'node.name=local',
      'node.roles=master,data,ingest',
      'discovery.type=single-node',
      'network.host=127.0.0.1',
      'http.port=9250',
      'hindsight.credential_file=/data/engine-credential',
      'cluster.max_shards_per_node=5000',
      'action.auto_create_index=false',
      'cluster.routing.allocation.disk.watermark.low=1gb',
      'cluster.routing.allocation.disk.watermark.high=750mb',
      'cluster.routing.allocation.disk.watermark.flood_stage=500mb',
      'logger.level=INFO',
    ]);
  });
});
