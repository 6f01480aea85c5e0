// `report --serve` in this process, and what it says to a page that listens.
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { makeWorld } from '../world.ts';

export async function serving(...words: readonly string[]) {
  const world = makeWorld();
  const code = world.run('report', '--serve', ...words);
  onTestFinished(async () => {
    world.interrupt();
    await code;
  });
  await until(() => world.out().includes('http://') || world.err() !== '');
  return { ...world, code, url: /http:\S+/.exec(world.out())?.[0] ?? world.err() };
}

export async function get(url: string): Promise<string> {
  return (await fetch(url)).text();
}

/** Collects what the server says of changes. */
export async function listen(url: string) {
  const abort = new AbortController();
  const response = await fetch(`${url}events`, { signal: abort.signal });
  let text = '';
  const read = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk as Uint8Array).toString('utf8');
  })().catch(() => {});
  return {
    response,
    changes: () => text.split('data: changed\n\n').length - 1,
    async stop() {
      abort.abort();
      await read;
    },
    ended: read,
  };
}

export async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await sleep(10);
}
