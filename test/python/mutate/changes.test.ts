// Which changes a source has: all of them, each as the line that it makes; what cannot matter has none; and a text with a change
// has as many lines as without.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, expect, test } from 'vitest';
import { pythonEnvironment } from '../../../scripts/python.ts';

interface Listed {
  readonly line: number;
  readonly kind: string;
  readonly function: string;
  readonly before: string;
  readonly after: string;
  readonly lines: readonly number[];
  readonly id: string;
}

const SCRIPT = `
import ast, json, sys
from lossproof_mutate._changes import Unread, changed, changes_of
for line in sys.stdin:
    text = json.loads(line)
    try:
        found = changes_of(text, "trainer.py")
        for each in found:
            again = changed(text, each)
            ast.parse(again)
            assert again.count("\\n") == text.count("\\n"), each
            assert again != text
        print(json.dumps(found), flush=True)
    except Unread as why:
        print(json.dumps(str(why)), flush=True)
`;

/** One process for all texts, a line each. */
const python = execa('python3', ['-c', SCRIPT], { env: pythonEnvironment(), stdin: 'pipe', buffer: false });
const answers = python.iterable();
afterAll(async () => {
  python.stdin.end();
  await python;
});

async function changesOf(text: string): Promise<readonly Listed[]> {
  python.stdin.write(`${JSON.stringify(text)}\n`);
  const { value } = await answers.next();
  if (value === undefined) throw new Error('the process has ended: see its traceback');
  return JSON.parse(String(value)) as readonly Listed[];
}

/** `kind: line`, of all changes. */
const told = (all: readonly Listed[]): string[] => all.map(({ kind, after }) => `${kind}: ${after}`);

test('rows, masks, means, signs, clips, special ids', async () => {
  const found = await changesOf(
    [
      'def step(logps, old, mask, ids, temperature):',
      '    """A docstring - 1."""',
      '    targets = ids[:, 1:]',
      '    ratio = torch.exp(logps - old)',
      '    held = ratio.clamp(min=1 - 0.2)',
      '    total = (held * mask).sum(dim=1)',
      '    logits = total / temperature',
      '    stop = tokenizer.eos_token_id',
      '    return logits.mean()',
    ].join('\n'),
  );
  expect(told(found)).toEqual([
    'shifted by one: targets = ids[:, :]',
    'detach added: ratio = torch.exp(logps - old).detach()',
    'operands swapped: ratio = torch.exp(old - logps)',
    'clip bound: held = ratio',
    'sign: held = ratio.clamp(min=(1 + 0.2))',
    'constant: held = ratio.clamp(min=1 - 0.4)',
    'sum for mean: total = (held * mask).mean(dim=1)',
    'mask dropped: total = (held).sum(dim=1)',
    'other axis: total = (held * mask).sum(dim=0)',
    'temperature dropped: logits = total',
    'eos for pad: stop = tokenizer.pad_token_id',
    'sum for mean: return logits.sum()',
  ]);
});

test('plain Python: ranges, comparisons, conditions, defaults, what is written in place', async () => {
  const found = await changesOf(
    [
      'EPSILON = 1e-6',
      'def spread(rows, epsilon=1e-4, *, ddof=1):',
      '    for at in range(len(rows) - 1):',
      '        if rows[at] < 0 and at > 2:',
      '            break',
      '        rows[at] += 0.5',
      '    done = not rows',
      '    return max(rows), -sum(rows)',
    ].join('\n'),
  );
  expect(told(found)).toEqual([
    'epsilon: EPSILON = 0.0',
    'epsilon: EPSILON = 1.0',
    'epsilon: def spread(rows, epsilon=0.0, *, ddof=1):',
    'epsilon: def spread(rows, epsilon=1.0, *, ddof=1):',
    'constant: def spread(rows, epsilon=1e-4, *, ddof=0):',
    'shifted by one: for at in range(len(rows)):',
    'comparison: if (rows[at] <= 0) and at > 2:',
    'logic: if ((rows[at] < 0) or (at > 2)):',
    'constant: if rows[at] < 1 and at > 2:',
    'comparison: if rows[at] < 0 and (at >= 2):',
    'constant: if rows[at] < 0 and at > 3:',
    'loop not left: pass',
    'sign: rows[at] -= 0.5',
    'not accumulated: rows[at] = 0.5',
    'constant: rows[at] += 1.0',
    'logic: done = bool(rows)',
    'min for max: return min(rows), -sum(rows)',
    'sign: return max(rows), sum(rows)',
  ]);
  // A default is reached where the function is.
  expect(found[2]?.lines).toEqual([3, 8]);
});

/** One source line of each kind that docs/mutate.md names, and what it is with each change of that kind. */
const EXAMPLES: readonly (readonly [kind: string, before: string, ...after: string[]])[] = [
  ['shifted by one', 'y = x[:, 1:]', 'y = x[:, :]'],
  ['shifted by one', 'y = at + 1', 'y = at'],
  ['shifted by one', 'y = range(n)', 'y = range(n - 1)'],
  ['slice end', 'y = x[:n]', 'y = x[:]'],
  ['mask dropped', 'y = x * mask', 'y = x'],
  ['mask dropped', 'y = a & b', 'y = a', 'y = b'],
  ['mask dropped', 'y = x.masked_fill(m, 0)', 'y = x'],
  ['mask dropped', 'y = torch.where(m, x, 0.0)', 'y = x', 'y = 0.0'],
  ['mask inverted', 'y = ~x', 'y = x'],
  ['other axis', 'y = x.cumsum(dim=1)', 'y = x.cumsum(dim=0)'],
  ['other axis', 'y = x.cumsum(0)', 'y = x.cumsum(-1)'],
  ['sum for mean', 'y = x.mean()', 'y = x.sum()'],
  ['sum for mean', 'y = x.sum(-1)', 'y = x.mean(-1)'],
  ['denominator dropped', 'y = a / n', 'y = a'],
  ['factor dropped', 'y = a * b', 'y = a', 'y = b'],
  ['temperature dropped', 'y = logits / temperature', 'y = logits'],
  ['sign', 'y = a + b', 'y = a - b'],
  ['sign', 'y = -x', 'y = x'],
  ['operands swapped', 'y = ref - logp', 'y = logp - ref'],
  ['ddof', 'y = x.std(correction=1)', 'y = x.std(correction=0)'],
  ['ddof', 'y = x.var(unbiased=False)', 'y = x.var(unbiased=True)'],
  ['epsilon', 'y = f(x, 1e-4)', 'y = f(x, 0.0)', 'y = f(x, 1.0)'],
  ['epsilon', 'y = n + eps', 'y = n'],
  ['constant', 'y = 3.0', 'y = 6.0'],
  ['flag', 'y = True', 'y = False'],
  ['ignored label', 'y = -100', 'y = 0'],
  ['min for max', 'y = torch.min(a, b)', 'y = torch.max(a, b)'],
  ['clip bound', 'y = 1 - eps', 'y = (1 + eps)'],
  ['clip bound', 'y = x.clamp(min=1)', 'y = x'],
  ['clip bound', 'y = x.clamp(low, high)', 'y = x.clamp(None, high)', 'y = x.clamp(low, None)'],
  ['eos for pad', 'y = t.pad_token_id', 'y = t.eos_token_id'],
  ['detach dropped', 'y = x.detach()', 'y = x'],
  ['detach added', 'y = torch.exp(x)', 'y = torch.exp(x).detach()'],
  ['comparison', 'y = a < b', 'y = (a <= b)'],
  ['condition', 'y = a if x else b', 'y = a if (not x) else b'],
  ['logic', 'y = a and b', 'y = (a or b)'],
  ['loop not left', 'break', 'pass'],
  ['row not skipped', 'continue', 'pass'],
  ['write dropped', 'x[i] = 0', 'pass'],
  ['not accumulated', 'x += y', 'x = y'],
];

/** Within a function, and within a loop for those that are nothing outside of one. */
const inFunction = (line: string): string => `def f():\n    for _ in x:\n        ${line}\n`;

/** Brackets around all of a value are no other value. */
const bare = (line: string): string => line.replace(/^(\w+ = )\((.*)\)$/, '$1$2');

test.each(EXAMPLES)('%s: %s', async (kind, before, ...after) => {
  const found = await changesOf(inFunction(before));
  const own = found.filter((each) => each.kind === kind).map((each) => bare(each.after));
  expect(own).toEqual(after.map(bare));
});

test('the kinds of docs/mutate.md are those of the examples', () => {
  const page = readFileSync(new URL('../../../docs/mutate.md', import.meta.url), 'utf8');
  const rows = page.split('| kind | for example |')[1]?.split('\n\n')[0]?.split('\n').slice(2) ?? [];
  const named = rows.flatMap(
    (row) =>
      row
        .split('|')[1]
        ?.split(',')
        .map((each) => each.trim()) ?? [],
  );
  expect(named.sort()).toEqual([...new Set(EXAMPLES.map(([kind]) => kind))].sort());
});

test.each([
  ['logging', 'logger.info("%d", x + 1)'],
  ['logging by a method', 'self.log({"a": x + 1})'],
  ['printing', 'print(x + 1)'],
  ['a warning', 'warnings.warn(str(x + 1))'],
  ['a metric', 'self._metrics["a"].append(x + 1)'],
  ['an assertion', 'assert x + 1 > 0, x + 1'],
  ['an error and what it is raised for', 'if x < 3: raise ValueError(x + 1)'],
  ['a text', 'y = f"{x + 1}"'],
  ['an annotation', 'y: Of[x + 1]'],
  ['a docstring', '"""x + 1"""'],
])('what tells and does not compute is left alone: %s', async (_, line) => {
  expect(told(await changesOf(`def f(x: Of[1 + 1]) -> Of[1 + 1]:\n    ${line}\n`))).toEqual([]);
  // Beside it, the same sum is changed.
  expect(told(await changesOf(`def f(x: Of[1 + 1]) -> Of[1 + 1]:\n    ${line}\n    y = x + 1\n`))).toEqual([
    'shifted by one: y = x',
  ]);
});

test('what an object is shown as, and what runs of a script alone, is left alone', async () => {
  const text = ['class C:', '    def __repr__(self):', '        return "x" * (n + 1)'];
  expect(told(await changesOf(text.join('\n')))).toEqual([]);
  expect(await changesOf(text.join('\n').replace('__repr__', 'shown'))).not.toEqual([]);
  expect(told(await changesOf('if __name__ == "__main__":\n    y = x + 1\n'))).toEqual([]);
});

test('a change over several lines, in brackets that stay closed, of letters of any width', async () => {
  const found = await changesOf(
    ['def größe(ä, ß):', '    return (', '        ä', '        - ß', '    ) * 2.0', ''].join('\n'),
  );
  expect(told(found)).toEqual(['operands swapped: (ß - ä)', 'constant: ) * 4.0']);
  expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
});

test('the same change has the same id when another line changes, and no source is no Python', async () => {
  const text = 'def f(x):\n    return x + 1\n';
  const [one] = await changesOf(text);
  const [again] = await changesOf(text);
  expect(again?.id).toBe(one?.id);
  expect(await changesOf('def f(:\n')).toMatch(/^trainer\.py:1 does not parse: /);
});

test('the package imports nothing of the SDK, and no process pays for it that is not mutated', async () => {
  const folder = fileURLToPath(new URL('../../../src/python/lossproof_mutate/bootstrap', import.meta.url));
  const loaded =
    'import json, sys; print(json.dumps([name for name in sys.modules if name.startswith("lossproof")]))';
  const { stdout } = await execa('python3', ['-c', loaded], { env: { PYTHONPATH: folder } });
  expect(JSON.parse(stdout)).toEqual([]);
});
