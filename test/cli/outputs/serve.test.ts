import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventLine } from '../../../src/report/machine/ndjson.ts';
import { failure, result, runStart } from '../../report/results.ts';
import { makeWorld } from '../world.ts';
import { get, listen, serving, until } from './serving.ts';

const START = eventLine(runStart(['a/b', 'a/c']));
const FAILS = eventLine({
  type: 'property-end',
  result: result({ id: 'a/b', verdict: 'fail', failure: failure() }),
});
const END = eventLine({ type: 'run-end', interrupted: false, milliseconds: 1_234 });

/** A request as no browser makes it. */
function ask(url: string, options: { method?: string; host?: string; path?: string }) {
  const { port, pathname } = new URL(url);
  return new Promise<{ status: number; headers: Readonly<Record<string, unknown>>; text: string }>(
    (done, failed) => {
      const sent = request(
        {
          port,
          host: '127.0.0.1',
          path: options.path ?? pathname,
          method: options.method ?? 'GET',
          headers: { Host: options.host ?? `127.0.0.1:${port}` },
        },
        (answer) => {
          let text = '';
          answer.on('data', (chunk: Buffer) => {
            text += chunk.toString('utf8');
          });
          answer.on('end', () => done({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
        },
      );
      sent.on('error', failed);
      sent.end();
    },
  );
}

test('the page waits for a run, follows it, and begins anew with the next', async () => {
  const { url, folder } = await serving('run.ndjson');
  const file = join(folder, 'run.ndjson');
  expect(await get(url)).toMatch(
    /<html lang="en" data-live>[\s\S]*Waiting for the run to begin[\s\S]*run\.ndjson/,
  );
  const events = await listen(url);
  const changed = async (): Promise<void> => {
    const before = events.changes();
    await until(() => events.changes() > before);
  };
  expect(events.response.headers.get('content-type')).toBe('text/event-stream');
  await until(() => events.changes() === 1);

  writeFileSync(file, START.slice(0, 40));
  await changed();
  expect(await get(`${url}body`)).toContain('Waiting for the run to begin');

  writeFileSync(file, START + FAILS.slice(0, 50));
  await changed();
  const early = await get(`${url}body`);
  expect(early).not.toContain('<html');
  expect(early).not.toContain('Token 5');

  appendFileSync(file, FAILS.slice(50) + END);
  await changed();
  expect(await get(`${url}body`)).toContain('Token 5');
  expect(await get(url)).toContain('data-live');

  writeFileSync(file, START);
  await changed();
  expect(await get(`${url}body`)).not.toContain('Token 5');

  rmSync(file);
  await changed();
  expect(await get(`${url}body`)).toContain('Waiting for the run to begin');
  await events.stop();
});

test('a file that turns out to be something else is said on the page', async () => {
  const { url, folder } = await serving('run.ndjson');
  writeFileSync(join(folder, 'run.ndjson'), 'Dear <diary>,\n');
  expect(await get(`${url}body`)).toContain('run.ndjson: these are not the events of a lossproof run');
  writeFileSync(join(folder, 'run.ndjson'), `${START}<b>oops</b>\n${FAILS}`);
  const body = await get(`${url}body`);
  expect(body).toContain('run.ndjson: line 2 is no JSON; it is left out');
  expect(body).toContain('Token 5');
});

test('Ctrl-C ends it with 0, and every connection with it', async () => {
  const { url, code, interrupt } = await serving('run.ndjson');
  const events = await listen(url);
  interrupt();
  expect(await code).toBe(0);
  await events.ended;
  await expect(fetch(url)).rejects.toThrow();
});

test('only the address with the token is answered', async () => {
  const { url } = await serving('run.ndjson');
  const { pathname: token } = new URL(url);
  expect(token).toMatch(/^\/[\w-]{22,}\/$/);
  const wrong = `/${'A'.repeat(token.length - 2)}/`;
  for (const path of [
    '/',
    '/body',
    wrong,
    `${wrong}body`,
    token.slice(0, -1),
    `${token}nope`,
    `${token}body/`,
    `${token}../body`,
    `/${token}`,
  ])
    expect(await ask(url, { path }), path).toMatchObject({ status: 404 });
  expect(await ask(url, { path: `${token}?again` })).toMatchObject({ status: 200 });
});

test('a name of another site that leads here is refused, whatever it asks for', async () => {
  const { url } = await serving('run.ndjson');
  const { port } = new URL(url);
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1:${Number(port) + 1}`,
    `localhost.evil.example:${port}`,
  ])
    expect(await ask(url, { host }), host).toMatchObject({ status: 403 });
  expect(await ask(url, { host: `localhost:${port}` })).toMatchObject({ status: 200 });
});

test('it can only be read, and is neither kept, framed nor told to others', async () => {
  const { url } = await serving('run.ndjson');
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    expect(await ask(url, { method }), method).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD' },
    });
  for (const path of ['', 'body', 'events']) {
    const { pathname } = new URL(url);
    const { status, headers, text } = await ask(url, { method: 'HEAD', path: pathname + path });
    expect(status).toBe(200);
    expect(text).toBe('');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': "frame-ancestors 'none'",
    });
  }
});

test('clients that vanish or speak no HTTP disturb nobody', async () => {
  const { url, folder } = await serving('run.ndjson');
  const events = await listen(url);
  const other = await listen(url);
  await other.stop();
  const { port } = new URL(url);
  await new Promise<void>((done) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write('\u0000\u0001 what\r\n\r\n'));
    socket.on('close', () => done());
    socket.on('error', () => {});
  });
  writeFileSync(join(folder, 'run.ndjson'), START);
  await until(() => events.changes() > 1);
  expect((await fetch(url)).status).toBe(200);
  await events.stop();
});

test('a port that is taken is one sentence', async () => {
  const { url } = await serving('run.ndjson');
  const { port } = new URL(url);
  const second = makeWorld();
  expect(await second.run('report', '--serve', '--port', port)).toBe(2);
  expect(second.err()).toBe(`lossproof: port ${port} is taken; name another one, or leave --port out\n`);
});
