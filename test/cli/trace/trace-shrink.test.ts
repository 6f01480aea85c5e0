// --shrink: the search by itself, on made-up failures; the shorter versions of a row; how a command is pointed at another
// file; and all of it on a script that needs no torch.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { shorterRows } from '../../../src/cli/trace/shrink/row.ts';
import { smallest } from '../../../src/cli/trace/shrink/search.ts';
import { pointedAt } from '../../../src/cli/trace/shrink/words.ts';
import { shapesOf } from '../../../src/view/shape/shape.ts';
import { makeWorld, type World } from '../world.ts';
import { MODEL, RECORDS, writeScript } from './traced-script.ts';

const RUNS = 200;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

describe('the search', () => {
  test('finds the one row that fails, and the two that fail together', async () => {
    for (const guilty of [[5], [0, 31], [7, 8], [30]]) {
      const fails = async (rows: readonly number[]): Promise<boolean> =>
        guilty.every((row) => rows.includes(row));
      const found = await smallest({ rows: numbers(32), fails, runs: RUNS });
      expect(found).toMatchObject({ rows: guilty, done: true });
      expect(found.runs).toBeLessThan(60);
    }
  });

  test('ends at rows of which none can be dropped, whatever it is that fails', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(11), { minLength: 1 }), async (guilty) => {
        const fails = async (rows: readonly number[]): Promise<boolean> =>
          guilty.every((row) => rows.includes(row));
        const { rows } = await smallest({ rows: numbers(12), fails, runs: RUNS });
        expect(rows).toEqual(guilty.toSorted((a, b) => a - b));
      }),
    );
  });

  test('tries first what the failure came from', async () => {
    const fails = async (rows: readonly number[]): Promise<boolean> => rows.includes(20);
    expect(await smallest({ rows: numbers(32), fails, runs: 1, suspects: [[20]] })).toEqual({
      rows: [20],
      runs: 1,
      done: true,
    });
    // One that fails only in company is found all the same.
    const both = async (rows: readonly number[]): Promise<boolean> => rows.includes(20) && rows.includes(3);
    expect(
      await smallest({ rows: numbers(32), fails: both, runs: 2, suspects: [[20], [3, 20]] }),
    ).toMatchObject({
      rows: [3, 20],
    });
  });

  test('keeps within its runs, asks nothing twice, and keeps the best so far', async () => {
    const asked: string[] = [];
    const fails = async (rows: readonly number[]): Promise<boolean> => {
      asked.push(rows.join());
      return rows.includes(3) && rows.includes(28);
    };
    for (const runs of [0, 1, 3, 5]) {
      asked.length = 0;
      const found = await smallest({ rows: numbers(32), fails, runs });
      expect(asked).toHaveLength(runs);
      expect(new Set(asked).size).toBe(runs);
      expect(found.done).toBe(false);
      expect(found.rows).toEqual(expect.arrayContaining([3, 28]));
    }
  });

  test('ends when it is stopped, and what was interrupted says nothing', async () => {
    let runs = 0;
    const fails = async (): Promise<boolean> => {
      runs++;
      return true;
    };
    const found = await smallest({ rows: numbers(8), fails, runs: RUNS, stopped: () => runs >= 2 });
    expect(found).toMatchObject({ rows: [0, 1, 2, 3], runs: 2, done: false });
  });

  test('makes rows shorter when there are no fewer', async () => {
    const fails = async (rows: readonly string[]): Promise<boolean> => rows.some((row) => row.includes('x'));
    const shorter = (row: string): string[] => (row.length > 1 ? [row.slice(0, -1), row.slice(1)] : []);
    const found = await smallest({ rows: ['abc', 'axbc', 'd'], fails, runs: RUNS, shorter });
    expect(found).toMatchObject({ rows: ['x'], done: true });
  });
});

describe('a shorter row', () => {
  const say = (role: string, content: string): object => ({ role, content });

  test('is fewer turns, whole exchanges of them, with or without the system message', () => {
    const messages = ['a', 'b', 'c', 'd', 'e'].map((text, at) =>
      say(at === 0 ? 'system' : at % 2 === 1 ? 'user' : 'assistant', text),
    );
    const turns = shorterRows({ messages, id: 'a row of two words' }).map((row) =>
      (row as { messages: { content: string }[] }).messages.map(({ content }) => content).join(''),
    );
    expect(turns).toEqual(['abc', 'ade', 'bcde']);
  });

  test('is shorter texts, and no empty ones', () => {
    expect(shorterRows({ prompt: 'one two three', completion: 'yes' })).toEqual(
      ['one ', 'one two ', 'three', 'two three'].map((prompt) => ({ prompt, completion: 'yes' })),
    );
    expect(shorterRows({ prompt: 'a', completion: '' })).toEqual([]);
  });

  test('is read as its row was, and is smaller: shrinking ends', () => {
    const row = {
      messages: [
        say('user', 'one two'),
        say('assistant', 'three four five'),
        say('user', 'six'),
        say('assistant', '7'),
      ],
    };
    for (const less of shorterRows(row)) {
      expect(shapesOf(less)).not.toHaveProperty('problem');
      expect(JSON.stringify(less).length).toBeLessThan(JSON.stringify(row).length);
    }
  });

  test('ids and labels stay as long as each other', () => {
    expect(shorterRows({ input_ids: [1, 2, 3], labels: [-100, 2, 3] })).toEqual([]);
  });
});

test('a command is pointed at another file where a word of it is that file', () => {
  const at = (...words: string[]): unknown => pointedAt(words, 'set/a.jsonl', '/tmp/b.jsonl', '/home/x');
  expect(at('python', 't.py', '--data', './set/a.jsonl')).toEqual({
    words: ['python', 't.py', '--data', '/tmp/b.jsonl'],
    named: true,
  });
  expect(at('t', '--data=/home/x/set/a.jsonl')).toEqual({ words: ['t', '--data=/tmp/b.jsonl'], named: true });
  expect(at('t', 'set', 'a.jsonl')).toEqual({ words: ['t', 'set', 'a.jsonl'], named: false });
});

describe('a script', () => {
  test('is run again with fewer rows, until only the guilty one is left', async () => {
    const world = shrinkingWorld();
    const before = readFileSync(join(world.folder, 'data.jsonl'), 'utf8');
    expect(await world.run(...TRACE, '--shrink', '20', '--', 'python3', 'shrink.py', 'data.jsonl')).toBe(1);
    expect(world.err()).toContain('1 of 6 rows fails so');
    const [trace = ''] = readdirSync(join(world.folder, '.lossproof', 'trace')).filter(
      (name) => name !== '.gitignore',
    );
    const folder = join('.lossproof', 'trace', trace);
    const smallestFile = readFileSync(join(world.folder, folder, 'smallest.jsonl'), 'utf8');
    expect(smallestFile).toBe(`${JSON.stringify(rowWith(GUILTY))}\n`);
    expect(world.err()).toContain(`-- python3 shrink.py ${folder}/smallest.jsonl`);
    expect(existsSync(join(world.folder, folder, 'shrink'))).toBe(false);
    // What is the user's is left as it was, and the printed command says the same.
    expect(readFileSync(join(world.folder, 'data.jsonl'), 'utf8')).toBe(before);
  });

  test('is told the file by an environment variable where no word of its command is it', async () => {
    const world = shrinkingWorld();
    expect(await world.run(...TRACE, '--shrink', '20', '--', 'python3', 'shrink.py')).toBe(1);
    expect(world.err()).toContain('1 of 6 rows fails so');
    expect(world.err()).toMatch(/LOSSPROOF_DATASET=\S+smallest\.jsonl npx lossproof trace/);
  });

  test('that does not read it is said to, after one run', async () => {
    const world = shrinkingWorld();
    expect(await world.run(...TRACE, '--shrink', '20', '--', 'python3', 'shrink.py', 'deaf')).toBe(1);
    expect(world.err().replaceAll(/\s+/g, ' ')).toContain('The script does not read the smaller file');
    expect(world.err()).not.toContain('run 2');
  });

  test('whose failure could be shrunk is said so, and nothing is run again by itself', async () => {
    const world = shrinkingWorld();
    expect(await world.run(...TRACE, '--', 'python3', 'shrink.py', 'data.jsonl')).toBe(1);
    expect(world.err()).toContain('--shrink 20 looks for the smallest data set that fails so');
  });

  test.each([
    [['--shrink', '3', '--', 'python3'], '--shrink makes the data set smaller: name it with --dataset'],
    [['--shrink', '3', '--from', 'x', '--dataset', 'data.jsonl'], '--shrink runs the script again'],
    [['--shrink', '0', '--dataset', 'data.jsonl', '--', 'python3'], '--shrink'],
  ])('%j cannot be meant', async (words, sentence) => {
    const world = shrinkingWorld();
    expect(await world.run('trace', ...words)).toBe(2);
    expect(world.err()).toContain(sentence);
  });
});

// --- helpers ---

const TRACE = ['trace', '--keep-going', '--dataset', 'data.jsonl', '--only', 'tokenize'];
/** A row with this id has a token of its prompt trained. */
const GUILTY = 77;

const rowWith = (id: number): object => ({
  input_ids: [65, id, 66, 67, id + 1, 858],
  labels: [-100, -100, -100, 67, id + 1, 858],
});

function shrinkingWorld(): World {
  const world = makeWorld(properties);
  writeScript(world);
  world.write('shrink.py', SCRIPT);
  world.write(
    'data.jsonl',
    [70, 71, 72, GUILTY, 80, 84].map((id) => `${JSON.stringify(rowWith(id))}\n`).join(''),
  );
  return world;
}

/** Trains the rows of the file that it is given, each by itself, and one token too many of some. */
const SCRIPT = `${RECORDS}
word = sys.argv[1] if len(sys.argv) > 1 else None
path = "data.jsonl" if word == "deaf" else word or os.environ.get("LOSSPROOF_DATASET", "data.jsonl")

write("process", trace=1, pid=4711, rank=0, world=1, argv=["shrink.py"], python="3.11.2", started="2026-03-01T09:30:00.000Z")
write("versions", versions={"torch": "2.13.0"}, device="cpu")
${MODEL}
with open(path, encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
for at, row in enumerate(rows):
    ids, labels = row["input_ids"], row["labels"]
    columns = [t - 1 for t in range(1, len(ids)) if labels[t] >= 0 or (${GUILTY} in ids and t == 2)]
    n = len(columns)
    write("forward", forward=at, model=0, step=at, grad=True, training=True,
          input_ids=tensor(ids, [1, len(ids)]), attention_mask=tensor([1] * len(ids), [1, len(ids)]),
          attention="mask", position_ids=None, labels=None, logprobs=None, averaged_over=1, adapters_off=False)
    write("trained", forward=at, route="logits", dtype="float32", rows=tensor([0] * n, [n]),
          columns=tensor(columns, [n]), targets=tensor([ids[c + 1] for c in columns], [n]),
          weights=tensor([1 / n] * n, [n], "f"), residuals=tensor([1e-7] * n, [n], "f"),
          temperatures=tensor([1.0] * n, [n], "f"), logprobs=tensor([-3.0] * n, [n], "f"), not_finite=0)
    write("step", step=at, optimizer="AdamW", models=[0], gradient_norm=1.5, changed=True, learning_rates=[1e-3])
write("end", reason="finished", exception=None, torch=True, modules_called=True, tracer_seconds=0.01, seconds=1.0)
`;
