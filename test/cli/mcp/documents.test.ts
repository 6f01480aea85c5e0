// What `view --json`, `explain --json` and `replay --findings` write, whatever is in it: valid by the schema that is published.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { bugs } from '../../../src/bugs/index.ts';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { makeWorld, pythonCollate, WRONG } from '../world.ts';
import { expectValid } from './schemas.ts';

const QWEN = familyFolder('qwen');
const talk = (content: string) => [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content },
];

interface Viewed {
  readonly verdict: string;
  readonly rows: number;
  readonly findings: readonly { readonly id: string; readonly first: readonly number[] }[];
  readonly shown: readonly {
    readonly row: number;
    readonly left_out: number;
    readonly parts: readonly { readonly trained: boolean; readonly tokens: number; readonly text: string }[];
  }[];
}

async function viewed(rows: readonly unknown[], code: number, ...words: readonly string[]): Promise<Viewed> {
  const world = makeWorld();
  world.write('data.jsonl', rows.map((row) => JSON.stringify(row)).join('\n'));
  expect(await world.run('view', 'data.jsonl', '--json', '--html', 'page.html', ...words)).toBe(code);
  expect(existsSync(join(world.folder, 'page.html'))).toBe(true);
  const document = JSON.parse(world.out()) as Viewed;
  expectValid('view', document);
  return document;
}

test('view --json has every shape of row, with its masks as runs of tokens', async () => {
  const rows = [
    { messages: talk('Hello!') },
    { prompt: 'Hi', chosen: 'Yes.', rejected: 'No.' },
    { text: 'A text.' },
    { messages: talk('') },
    { rows: 'of no known shape' },
  ];
  const { findings, shown, ...document } = await viewed(rows, 1, '--tokenizer', QWEN, '--all');
  expect(document).toMatchObject({ verdict: 'fail', rows: 6, unread: 1 });
  expect(findings).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: 'empty-answer', first: [4] }),
      expect.objectContaining({ id: 'unread', first: [5] }),
    ]),
  );
  const parts = shown.find(({ row }) => row === 1)?.parts ?? [];
  expect(parts.filter(({ trained }) => trained).map(({ text }) => text)).toEqual(['Hello!', '<|im_end|>']);
});

test('view --json fails by a note where --strict does', async () => {
  const rows = [{ text: 'A text.' }, { text: 'A text.' }];
  const lax = await viewed(rows, 0, '--tokenizer', QWEN);
  expect(lax).toMatchObject({ verdict: 'pass', findings: [{ weight: 'note' }] });
  expect(await viewed(rows, 1, '--tokenizer', QWEN, '--strict')).toMatchObject({ verdict: 'fail' });
});

test('view --json without a tokenizer shows ids, and is as short for a long row', async () => {
  const ids = Array.from({ length: 2_000 }, (_, at) => at + 1);
  const labels = ids.map((id) => (id % 10 === 0 ? id : -100));
  const { shown, verdict } = await viewed(
    [
      { input_ids: ids, labels },
      { input_ids: [1, 2], labels: [-100, 2] },
    ],
    0,
  );
  expect(verdict).toBe('pass');
  expect(shown[0]?.parts[0]).toEqual({
    role: 'prompt',
    trained: false,
    from: 0,
    tokens: 9,
    text: '1 2 3 4 5 6 7 8 9 ',
  });
  expect(shown[0]?.parts.length).toBe(64);
  expect(shown[0]?.left_out).toBe(400 - 64);
});

test('view --json shows text of others, and obeys none of it', async () => {
  const { shown } = await viewed([{ messages: talk('\u001b[2J\u0000ok') }], 0, '--tokenizer', QWEN);
  expect(JSON.stringify(shown)).not.toMatch(/u001b|u0000/i);
  expect(JSON.stringify(shown)).toContain('ok');
});

test('explain --json has properties of every kind, and bugs', async () => {
  const world = makeWorld(properties);
  const some = bugs.filter((_, at) => at % 20 === 0).map(({ id }) => id);
  expect(await world.run('explain', 'mask', 'loss', 'trace', 'monitor', ...some, '--json')).toBe(0);
  const pages = JSON.parse(world.out()) as { readonly kind: string; readonly stage?: string }[];
  expectValid('explain', pages);
  expect(pages.filter(({ kind }) => kind === 'bug')).toHaveLength(some.length);
  expect([...new Set(pages.map(({ stage }) => stage))]).toEqual([
    'mask',
    'loss',
    'trace',
    'monitor',
    undefined,
  ]);
});

test('replay --findings has what still fails, what holds now, and why a case says nothing any more', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate(WRONG));
  await world.run('check', '--seed', '7', '--', 'python3', 'adapter.py');
  const id = /replay (\w+)/.exec(world.out())?.[1] ?? '';
  const replayed = async (code: number): Promise<object> => {
    expect(await world.run('replay', id, '--findings', 'found.json')).toBe(code);
    const document = JSON.parse(readFileSync(join(world.folder, 'found.json'), 'utf8')) as object;
    expectValid('findings', document);
    return document;
  };
  expect(await replayed(1)).toMatchObject({
    runs: [
      {
        command: 'python3 adapter.py',
        finished: true,
        findings: [
          {
            property: 'collate/drops-nothing',
            verdict: 'fail',
            case: id,
            next: [`npx lossproof replay ${id}`, {}, {}],
          },
        ],
      },
    ],
  });
  world.write('adapter.py', pythonCollate());
  expect(await replayed(0)).toMatchObject({ runs: [{ finished: true, counts: { pass: 1 }, findings: [] }] });
  world.write('adapter.py', pythonCollate().replace('"collate"', '"mask"'));
  expect(await replayed(2)).toMatchObject({
    runs: [{ findings: [], noVerdict: expect.stringContaining('no longer valid') }],
  });
  expect(await world.run('replay', id, '--findings', '-')).toBe(2);
  expect(world.err()).toContain('standard output has the failure; name a file instead of -');
  expect(await world.run('replay', id, '--findings', 'no/such/folder.json')).toBe(2);
});
