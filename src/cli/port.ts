/** Asks for the port before anything slow starts, so that a taken one is told at once. */
import { createServer } from 'node:net';
import { HindsightError } from '../errors.ts';

/** ERR_PORT_IN_USE when another program listens there; ERR_CONFIG_INVALID when the host is not one of this machine. */
export function assertPortFree(port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') reject(new HindsightError('ERR_PORT_IN_USE', { params: { port }, cause: error }));
      else
        reject(
          new HindsightError('ERR_CONFIG_INVALID', {
            params: { detail: `HOST and PORT cannot be listened on (${error.code ?? error.message})` },
            cause: error,
          }),
        );
    });
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}
