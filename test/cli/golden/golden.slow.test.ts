// `golden` with the whole set of cases: the same bytes again, and the recorded example.
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeWorld } from '../world.ts';

const FAULTY = ['--', 'python3', resolve('test/golden/faulty.py')];

/** Every file of a folder by name. */
function bytes(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
}

describe('record', () => {
  test('writes the same bytes again, and with --force changes none', async () => {
    const world = makeWorld();
    for (const dir of ['once', 'twice']) await world.run('golden', 'record', '--dir', dir, ...FAULTY);
    const once = bytes(join(world.folder, 'once'));
    expect(Object.keys(once).length).toBeGreaterThan(30);
    expect(bytes(join(world.folder, 'twice'))).toEqual(once);
    await world.run('golden', 'record', '--force', '--dir', 'once', ...FAULTY);
    expect(world.out()).toContain('entries in once: nothing changed');
    expect(bytes(join(world.folder, 'once'))).toEqual(once);
  });
});

describe('the recorded example', () => {
  test('is the same in a folder with another name, recorded again', async () => {
    const world = makeWorld();
    cpSync(resolve('golden/example'), join(world.folder, 'ein Beispiel'), { recursive: true });
    const before = bytes(resolve('golden/example'));
    expect(await world.run('golden', 'check', '--bundled', '--dir', 'ein Beispiel')).toBe(0);
    expect(await world.run('golden', 'check', '--bundled', '--dir', 'ein Beispiel')).toBe(0);
    expect(await world.run('golden', 'record', '--bundled', '--force', '--dir', 'ein Beispiel')).toBe(0);
    expect(world.out()).toContain('nothing changed');
    expect(bytes(join(world.folder, 'ein Beispiel'))).toEqual(before);
  });
});
