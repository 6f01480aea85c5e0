// No failure that was found is lost: it is saved before it is made small, stays its trainer's, and is offered only where it was saved.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCorpus } from '../../../src/check/saved/corpus.ts';
import { type PropertyResult, type RunOptions, run, type Trainer } from '../../../src/index.ts';
import { commandsOf } from '../../../src/report/failure/reproduce.ts';
import { echoes, extracting } from '../toy.ts';

function folderOf(): string {
  const parent = mkdtempSync(join(tmpdir(), 'loss proof keeper ü '));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return join(parent, 'cases');
}

async function judged(
  trainer: Trainer,
  folder: string,
  more: Partial<RunOptions> = {},
): Promise<PropertyResult> {
  const asked = { trainer, tokenizer: undefined, seed: 7, cases: 100, command: 'python3 a.py' };
  const property = { ...echoes, coverage: {} } as unknown as RunOptions['properties'][number];
  const [result] = await run(
    { ...asked, properties: [property], corpus: openCorpus(folder), ...more },
    () => undefined,
  );
  if (result === undefined) throw new Error('no result');
  return result;
}

/** Loses the last id of what is longer than two; `seen` hears of each answer. */
const losing = (seen: () => void = () => undefined): Trainer =>
  extracting((ids) => {
    seen();
    return ids.length > 2 ? ids.slice(0, -1) : ids;
  });
const right = extracting((ids) => ids);
const named = (trainer: Trainer, name: string): Trainer => ({
  ...trainer,
  hello: { ...trainer.hello, name },
});

const casesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
};

describe('the first failing case', () => {
  test('is saved while it is made small, and gives way to the smaller one', async () => {
    const folder = folderOf();
    const during = new Set<string>();
    const result = await judged(
      losing(() => {
        for (const name of casesIn(folder)) during.add(name);
      }),
      folder,
    );
    expect(result.failure?.shrinks).toBeGreaterThan(0);
    const [first = ''] = during;
    expect(first).not.toBe('');
    expect(casesIn(folder)).toEqual([`${result.failure?.caseId}.json`]);
  });

  test('can be run again if the run was killed before it was made small', async () => {
    const folder = folderOf();
    let kept = '';
    await judged(
      losing(() => {
        const [name] = casesIn(folder);
        if (kept === '' && name !== undefined) kept = readFileSync(join(folder, name), 'utf8');
      }),
      folder,
    );
    const again = folderOf();
    openCorpus(again).save(JSON.parse(kept));
    const result = await judged(losing(), again, { cases: 1 });
    expect(result).toMatchObject({ verdict: 'fail', failure: { saved: true } });
  });
});

describe('a saved failure belongs to its trainer', () => {
  test.each<[how: string, trainer: Trainer, more: Partial<RunOptions>]>([
    ['of another name', named(right, 'other'), {}],
    ['of another command', right, { command: 'python3 b.py' }],
    ['of another option', right, { command: 'python3 a.py --config b' }],
    ['of a configuration, by its name there', right, { name: 'b' }],
    ['with another program and command', right, { command: 'node b.js' }],
  ])('one %s for which it holds leaves it, and calls nothing fixed', async (_, trainer, more) => {
    const folder = folderOf();
    await judged(losing(), folder, { name: 'a' });
    const before = casesIn(folder);
    expect(before).toHaveLength(1);
    const result = await judged(trainer, folder, { name: 'a', ...more });
    expect(result).toMatchObject({ verdict: 'pass', fixed: [] });
    expect(casesIn(folder)).toEqual(before);
  });

  test('which fixes it, also where its program is elsewhere', async () => {
    const folder = folderOf();
    const { failure } = await judged(losing(), folder);
    const result = await judged(right, folder, { command: '/usr/bin/python3 a.py' });
    expect(result.fixed).toEqual([failure?.caseId]);
    expect(casesIn(folder)).toEqual([]);
  });

  test('another trainer that fails so, too, does not take it away', async () => {
    const folder = folderOf();
    await judged(losing(), folder);
    await judged(named(losing(), 'other'), folder);
    await judged(named(right, 'other'), folder);
    expect(casesIn(folder)).toHaveLength(1);
  });
});

test('a failure that could not be saved offers no replay by its id', async () => {
  const folder = folderOf();
  writeFileSync(folder, 'a file where the folder would be');
  const { failure } = await judged(losing(), folder);
  expect(failure).toMatchObject({ unsaved: true });
  if (failure === undefined) throw new Error('it fails');
  expect(commandsOf(failure, { command: 'npx lossproof replay', adapter: 'a', folder: '.' })).toEqual([]);
});
