// A notebook, executed in a kernel of Jupyter's: what its cells show, and what becomes of a check that is interrupted there. The
// kernel runs an event loop in the thread that runs the cells, and has its own mind of a Ctrl-C where a cell awaits.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { makeNotebook } from './pytest.ts';

const DRIVER = join(import.meta.dirname, 'run_notebook.py');

interface Cell {
  readonly source: string;
  /** The kernel is interrupted, or killed, once this file is there. */
  readonly interrupt?: string;
  readonly restart?: string;
}

interface Shown {
  readonly html: string;
  readonly plain: string;
  readonly printed: string;
  /** The name of what was raised. */
  readonly raised: string | undefined;
}

/** What each cell shows, and of each interrupt which processes there were, and which of them were left. */
async function executed(cells: readonly Cell[]): Promise<{
  readonly shown: readonly Shown[];
  readonly interrupts: readonly { readonly started: readonly string[]; readonly left: readonly string[] }[];
}> {
  const folder = makeNotebook();
  // Nothing that this machine's user has set for Jupyter or IPython.
  const env = Object.fromEntries(
    ['JUPYTER_CONFIG_DIR', 'JUPYTER_DATA_DIR', 'JUPYTER_RUNTIME_DIR', 'IPYTHONDIR'].map((name) => [
      name,
      join(folder.path, 'jupyter'),
    ]),
  );
  folder.write('cells.json', JSON.stringify([{ source: IMPORTS }, ...cells]));
  const { code, out } = await folder.python([DRIVER, 'cells.json', 'notebook.ipynb'], env);
  expect(code, out).toBe(0);
  const notebook = JSON.parse(readFileSync(join(folder.path, 'notebook.ipynb'), 'utf8'));
  return {
    shown: notebook.cells
      .slice(1)
      .map(({ outputs }: { readonly outputs: readonly Output[] }) => shownOf(outputs)),
    interrupts: JSON.parse(out.trim().split('\n').at(-1) ?? ''),
  };
}

type Output = Readonly<Record<string, unknown>> & { readonly data?: Readonly<Record<string, unknown>> };

function shownOf(outputs: readonly Output[]): Shown {
  const text = (value: unknown): string => [value ?? ''].flat().join('');
  const all = (of: (output: Output) => unknown): string => outputs.map((output) => text(of(output))).join('');
  return {
    html: all(({ data }) => data?.['text/html']),
    plain: all(({ data }) => data?.['text/plain']),
    printed: all(({ text: said }) => said),
    raised: outputs.map(({ ename }) => ename).find((name): name is string => typeof name === 'string'),
  };
}

const IMPORTS = `
import asyncio, json, time
import lossproof
import right_functions as right, wrong_functions as wrong
assert asyncio.get_running_loop().is_running()
`;
const SENTENCE = /Token 1 \(id \d+\) stops the completion of row 0, but the mask does not train it;/;

test('functions of a cell, wrong and right, and the masks of a data set, for browsers and for terminals', async () => {
  const rows = [
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello!' },
      ],
    },
  ];
  const {
    shown: [failing, holding, awaited, masks, again],
  } = await executed([
    {
      source: `
def mask(prompt_ids, completion_ids, pad_token_id):
    return wrong.mask(prompt_ids, completion_ids, pad_token_id)

lossproof.check({"mask": mask}, only="mask", seed=7, cases=30)`,
    },
    { source: 'result = lossproof.check({"mask": right.mask}, only="mask", seed=7, cases=30)\nresult' },
    {
      source: `
async def checked():
    await asyncio.sleep(0)
    return lossproof.check({"mask": mask}, only="mask/stop-token-is-trained-once", seed=7, cases=30)

await checked()`,
    },
    {
      source: `lossproof.view(json.loads(${JSON.stringify(JSON.stringify(rows))}), tokenizer=${JSON.stringify(familyFolder('qwen'))})`,
    },
    { source: 'print(result, bool(result))' },
  ]);
  for (const each of [failing, awaited]) {
    expect(each?.raised).toBeUndefined();
    expect(each?.plain).toMatch(SENTENCE);
    expect(each?.plain).toContain('observed  0       0\n                    ▲▲▲');
    expect(each?.html).toMatch(/Token 1 \(id \d+\) stops the completion of row 0/);
    expect(each?.html).toContain('<div class="strip"');
  }
  expect(holding?.plain).toMatch(/✓ holds {8}mask\/ \(17 of 19/);
  expect(holding?.html).not.toContain('<div class="strip"');
  expect(holding?.html).toMatch(/15/);
  // Jupyter asks every program for colours.
  expect(masks?.plain).toMatch(/✓ None of 1 row is flagged\.$/);
  expect(masks?.plain).not.toContain('\u{1b}');
  expect(masks?.html).toMatch(/^<iframe title="Masks of a data set" sandbox="allow-scripts"/);
  expect(masks?.html).toContain('carpet');
  expect(again?.printed).toContain('mask/ (17 of 19');
  expect(again?.printed.trimEnd()).toMatch(/True$/);
});

const NEVER = (file: string): string => `
def never(prompt_ids):
    open("${file}", "w").close()
    time.sleep(10000)
`;

test('the stop button ends a check, in a cell that awaits as well; nothing is left, and the kernel goes on', async () => {
  const { shown, interrupts } = await executed([
    {
      source: `${NEVER('plain')}\nlossproof.check({"mask": never}, only="mask", op_timeout=9000)`,
      interrupt: 'plain',
    },
    { source: 'print(bool(lossproof.check({"mask": right.mask}, only="mask", seed=7, cases=5)))' },
    {
      source: `${NEVER('awaits')}
async def checked():
    return lossproof.check({"mask": never}, only="mask", op_timeout=9000)

await checked()`,
      interrupt: 'awaits',
    },
    { source: 'print(bool(lossproof.check({"mask": right.mask}, only="mask", seed=7, cases=5)))' },
    {
      source: `
with open("never.py", "w") as file:
    file.write("""import time
import lossproof

@lossproof.op
def mask(prompt_ids):
    open("command", "w").close()
    time.sleep(10000)

lossproof.serve(name="never")
""")

async def checked():
    return lossproof.check(["python3", "never.py"], only="mask", op_timeout=9000)

await checked()`,
      interrupt: 'command',
    },
    {
      source: `${NEVER('restart')}\nlossproof.check({"mask": never}, only="mask", op_timeout=9000)`,
      restart: 'restart',
    },
  ]);
  expect(shown.map(({ raised, printed }) => raised ?? printed.trim())).toEqual([
    'KeyboardInterrupt',
    'True',
    'KeyboardInterrupt',
    'True',
    'KeyboardInterrupt',
    '',
  ]);
  const trainers = [/relay\.py \d+$/, /relay\.py \d+$/, /never\.py$/, /relay\.py \d+$/];
  expect(interrupts).toHaveLength(trainers.length);
  for (const [at, each] of interrupts.entries()) {
    expect(each.started.filter((words) => trainers[at]?.test(words))).toHaveLength(1);
    expect(each.started.filter((words) => words.endsWith('main.js session'))).toHaveLength(1);
    expect(each.left).toEqual([]);
  }
});

test('a function that hangs is a finding, in a cell that awaits as well', async () => {
  const { shown } = await executed([
    {
      source: `
calls = []

def hangs(prompt_ids, completion_ids, pad_token_id):
    calls.append(1)
    if len(calls) == 60:
        time.sleep(10000)
    return right.mask(prompt_ids, completion_ids, pad_token_id)

async def checked():
    return lossproof.check({"mask": hangs}, only="mask/is-zero-or-one", seed=7, op_timeout=2)

await checked()`,
    },
    { source: 'await asyncio.sleep(0)\nprint("alive")' },
  ]);
  expect(shown[0]?.raised).toBeUndefined();
  expect(shown[0]?.plain).toContain('The trainer did not answer mask within 2 s');
  expect(shown[0]?.html).toContain('did not answer mask within 2 s');
  expect(shown[1]?.printed).toBe('alive\n');
});
