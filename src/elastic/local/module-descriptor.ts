/** The descriptor by which Elasticsearch knows the transport module; artifacts.ts writes it, and jvm.ts writes it again for the guarded copy. */
import { ENGINE_FACTS, type EngineVersion } from './engine-version.ts';

export const TRANSPORT_PLUGIN = 'org.elasticsearch.transport.netty4.Netty4Plugin';

/** Content of plugin-descriptor.properties. It has no modulename line: with one, module resolution fails on org.elasticsearch.sslconfig. */
export function moduleDescriptor(engine: EngineVersion, pluginClass: string): string {
  const descriptor = {
    description: 'Netty 4 transport',
    version: engine,
    name: 'transport-netty4',
    classname: pluginClass,
    'java.version': String(ENGINE_FACTS[engine].minJava),
    'elasticsearch.version': engine,
  };
  return Object.entries(descriptor)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}
