// A page served to this machine only: on loopback, behind a random token, for browsers that were sent here and for no
// page of somebody else's. It tells its readers when the page has changed; what the page is, live-report.ts knows.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pace } from '../../bounds.ts';
import type { Problem } from '../context.ts';
import { asTyped } from '../typed.ts';

export interface Site {
  /** The whole document. */
  page(): string;
  /** What stands in its `<main>`. */
  body(): string;
  /** Another text whenever the page may be another one; cheap, it is asked for all the time. */
  version(): string;
}

export interface Serving {
  readonly address: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Serves until it is closed. `port` 0 is any free one. */
export async function serve(site: Site, port: number): Promise<Serving | Problem> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const readers = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    // A client that vanishes is no event.
    response.on('error', () => {});
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else send(response, 500, `this page cannot be made: ${String(error)}\n`);
    });
  });
  // What speaks no HTTP is not answered.
  server.on('clientError', (_error, socket) => void socket.destroy());

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { port: open } = server.address() as AddressInfo;
    // A name of another site that resolves to this machine brings that site's own Host along.
    if (![`127.0.0.1:${open}`, `localhost:${open}`].includes(request.headers.host ?? ''))
      return send(
        response,
        403,
        `this page answers to 127.0.0.1:${open} and localhost:${open} only; forward the same port\n`,
      );
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return send(response, 405, 'this page can only be read\n');
    }
    const [, given = '', place, ...rest] = (request.url ?? '').replace(/\?.*$/s, '').split('/');
    if (!isSame(given, token) || rest.length > 0) return send(response, 404, NOT_HERE);
    if (place === '') return send(response, 200, site.page(), HTML);
    if (place === 'body') return send(response, 200, site.body(), HTML);
    if (place === 'events') return follow(request, response);
    return send(response, 404, NOT_HERE);
  }

  function follow(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, { ...HEADERS, 'Content-Type': 'text/event-stream' });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    readers.add(response);
    response.on('close', () => readers.delete(response));
    // The page may have changed between being sent and listening, or while the machine slept.
    response.write(CHANGED);
  }

  const tell = (text: string): void => {
    for (const reader of readers) reader.write(text);
  };

  const failed = await new Promise<Error | undefined>((resolve) => {
    server.once('error', resolve);
    server.listen(port, LOOPBACK, () => resolve(undefined));
  });
  if (failed !== undefined) return { problem: whyNoPort(failed, port) };
  server.on('error', () => {});

  let seen = site.version();
  const watch = setInterval(() => {
    const version = site.version();
    if (version === seen) return;
    seen = version;
    tell(CHANGED);
  }, WATCH_MILLISECONDS);
  const keepAlive = setInterval(() => tell(': still here\n\n'), KEEP_ALIVE_MILLISECONDS);
  return {
    address: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}/${token}/`,
    async close() {
      clearInterval(watch);
      clearInterval(keepAlive);
      for (const reader of readers) reader.end();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

const LOOPBACK = '127.0.0.1';
/** 128 bits cannot be guessed; some more cost nothing. */
const TOKEN_BYTES = 24;
/** Quick for a reader, and many writes of a run become one change. */
const WATCH_MILLISECONDS = pace(500);
/** Below the minute after which forwarders give up connections that say nothing. */
const KEEP_ALIVE_MILLISECONDS = pace(15_000);
const HTML = 'text/html; charset=utf-8';
const CHANGED = 'data: changed\n\n';
const NOT_HERE = 'nothing is here; the address with its token was printed where the report is served\n';

/** Never kept, never framed, never told to others. */
const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;

function send(
  response: ServerResponse,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { ...HEADERS, 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) });
  response.end(asTyped(text));
}

/** Takes as long for a token that is almost right as for any other of its length. */
function isSame(given: string, token: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(token)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function whyNoPort(error: Error, port: number): string {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `port ${port} is taken; name another one, or leave --port out`;
  if (code === 'EACCES') return `port ${port} may not be used; name one above 1023, or leave --port out`;
  return `nothing can be served on ${LOOPBACK}: ${error.message}`;
}
