// `--webhook` against a server on the loopback: what arrives, and what is said where nothing does.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { makeWorld, pythonCollate, WRONG } from '../world.ts';

const RUN = ['check', '--seed', '7', '--only', 'collate'];
const TRAINER = ['--', 'python3', 'adapter.py'];

function worldWith(rows = 'rows', name = 'tiny') {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate(rows).replace('tiny', name));
  return world;
}

/** A chat that answers with this status; the texts that it was sent. */
async function chat(status = 200): Promise<{ readonly url: string; readonly texts: readonly string[] }> {
  const texts: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      expect(request.headers['content-type']).toBe('application/json');
      const message = JSON.parse(body) as { readonly text: string };
      expect(Object.keys(message)).toEqual(['text']);
      texts.push(message.text);
      response.writeHead(status).end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/secret`, texts };
}

test('a run that fails is one message: the verdict, the failures, and how to see one again', async () => {
  const { url, texts } = await chat();
  const world = worldWith(WRONG);
  expect(await world.run(...RUN, '--webhook', url, ...TRAINER)).toBe(1);
  expect(texts).toHaveLength(1);
  expect(texts[0]).toMatch(/^\*lossproof\* tiny: 1 property: 1 fails/);
  expect(texts[0]).toMatch(/^✗ \*collate\/drops-nothing\* \S/m);
  expect(texts[0]).toMatch(/^`npx lossproof check --seed 7 .*`$/m);
  expect(world.both()).not.toContain('secret');
});

test('a run that holds is one line', async () => {
  const { url, texts } = await chat();
  expect(await worldWith().run(...RUN, '--webhook', url, ...TRAINER)).toBe(0);
  expect(texts).toEqual([expect.stringMatching(/^\*lossproof\* tiny: 1 property: 1 holds [^\n]*$/)]);
});

test('`report` sends the last run once more', async () => {
  const { url, texts } = await chat();
  const world = worldWith(WRONG);
  await world.run(...RUN, ...TRAINER);
  expect(await world.run('report', '--webhook', url)).toBe(0);
  expect(texts).toEqual([expect.stringContaining('collate/drops-nothing')]);
});

test('a name that would call everybody in the channel calls nobody', async () => {
  const { url, texts } = await chat();
  await worldWith('rows', '<!channel> & co').run(...RUN, '--webhook', url, ...TRAINER);
  expect(texts[0]).toContain('*lossproof* &lt;!channel&gt; &amp; co: ');
});

test.each([
  ['', 'the address is empty'],
  ['http://127.0.0.1:1/services/secret', '127.0.0.1:1 cannot be reached: '],
])('a message to "%s" is said not to be sent, and the verdict stays', async (url, why) => {
  const world = worldWith();
  expect(await world.run(...RUN, '--webhook', url, ...TRAINER)).toBe(0);
  expect(world.err()).toContain(`lossproof: --webhook: no message was sent, ${why}`);
  expect(world.both()).not.toContain('secret');
});

test('a chat that refuses is named with its answer', async () => {
  const { url } = await chat(404);
  const world = worldWith(WRONG);
  expect(await world.run(...RUN, '--webhook', url, ...TRAINER)).toBe(1);
  expect(world.err()).toMatch(/--webhook: no message was sent, 127\.0\.0\.1:\d+ answered 404 Not Found\n/);
});

test.each(['hooks.example.com/x', 'file:///etc/passwd', 'https://'])('"%s" is no address', async (url) => {
  const world = worldWith();
  expect(await world.run(...RUN, '--webhook', url, ...TRAINER)).toBe(2);
  expect(world.err()).toContain('--webhook needs an address, as in --webhook "$SLACK_WEBHOOK"');
});
