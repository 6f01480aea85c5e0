// Which changes a source has: all of them, each as the line that it makes; what cannot matter has none; and a text with a change
// has as many lines as without.
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
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
text = sys.stdin.read()
try:
    found = changes_of(text, "trainer.py")
    for each in found:
        again = changed(text, each)
        ast.parse(again)
        assert again.count("\\n") == text.count("\\n"), each
        assert again != text
    print(json.dumps(found))
except Unread as why:
    print(json.dumps(str(why)))
`;

async function changesOf(text: string): Promise<readonly Listed[]> {
  const { stdout } = await execa('python3', ['-c', SCRIPT], { input: text, env: pythonEnvironment() });
  return JSON.parse(stdout) as readonly Listed[];
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

test('what tells and does not compute is left alone', async () => {
  const found = await changesOf(
    [
      'import math',
      'class Config:',
      '    def __repr__(self):',
      '        return "x" * 2',
      'def check(x: int = None):',
      '    assert x - 1 > 0, x + 1',
      '    if x < 3:',
      '        raise ValueError(x * 2)',
      '    print(x + 1)',
      '    logger.info("%d", x + 1)',
      '    self._metrics["a"].append(x * 2)',
      '    f"{x + 1}"',
      '    warnings.warn(str(x + 1))',
      'if __name__ == "__main__":',
      '    check(2)',
    ].join('\n'),
  );
  expect(told(found)).toEqual([]);
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
