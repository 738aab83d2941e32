/** Adds a bearer token to every request: the conformance suite cannot send headers of its own. */
import { createServer, request } from 'node:http';

export function startTokenProxy(port, token) {
  const proxy = createServer((req, res) => {
    // Host and Origin pass as they came: the suite tests what the service makes of them
    const headers = { ...req.headers, authorization: `Bearer ${token}` };
    const onward = request({ host: '127.0.0.1', port, method: req.method, path: req.url, headers }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  });
  return new Promise((resolve) => {
    proxy.listen(0, '127.0.0.1', () =>
      resolve({
        port: proxy.address().port,
        close: () => {
          proxy.close();
          proxy.closeAllConnections();
        },
      }),
    );
  });
}
