// What was sampled for a step and has no part in it: told, and never failed.
import { expect, test } from 'vitest';
import type { LedgerSketch, TrainedRowSketch } from '../../traced.ts';
import { judged } from '../judged.ts';

const EVERY = 'mask/every-completion-token-is-trained';
const PROMPTS = [
  [1, 10, 11],
  [1, 12, 13],
  [1, 14, 15],
];
const COMPLETIONS = [
  [20, 21, 2],
  [22, 23, 2],
  [24, 25, 2],
];

/** Three completions to each of three prompts, two pushed up and one down; `change` is asked for each row. */
function sketch(
  change: (prompt: number, copy: number) => Partial<TrainedRowSketch> | undefined = () => ({}),
  sampled: (prompt: number, copy: number) => readonly number[] = (_, copy) => COMPLETIONS[copy] ?? [],
): LedgerSketch {
  const rows: TrainedRowSketch[] = [];
  const generations: { promptIds: number[]; completionIds: number[] }[] = [];
  for (const [prompt, promptIds] of PROMPTS.entries())
    for (const [copy, completion] of COMPLETIONS.entries()) {
      const at = generations.length;
      generations.push({ promptIds, completionIds: [...sampled(prompt, copy)] });
      const more = change(prompt, copy);
      if (more === undefined) continue;
      rows.push({
        ids: [...promptIds, ...completion],
        prompt: promptIds.length,
        forward: prompt,
        row: copy,
        weight: copy === 0 ? -0.2 : 0.1,
        ...more,
        spans: { origin: { kind: 'generation', generations: [at] }, ...more.spans },
      });
    }
  return { rows, generations };
}

const NONE = { trained: Array(7).fill(undefined) };
const told = (of: LedgerSketch): string[] => {
  const { notices = [], findings } = judged(EVERY, of);
  expect(findings).toEqual([]);
  return notices.map(({ sentence, remark }) => `${remark === true ? 'remark' : 'asks'}: ${sentence}`);
};

test('where all that was sampled is trained, nothing is told', () => {
  expect(told(sketch())).toEqual([]);
});
test('a prompt whose completions have no weight is told', () => {
  expect(told(sketch((prompt) => (prompt === 1 ? NONE : {})))[0]).toMatch(
    /^remark: 1 of the 3 prompts that were sampled for step 0 has no completion with a weight/,
  );
});
test('a prompt that stands in no row is told', () => {
  expect(told(sketch((prompt) => (prompt === 2 ? undefined : {})))[0]).toMatch(
    /^remark: 1 of the 3 prompts that were sampled for step 0 stands in no trained row/,
  );
});
test('a completion without a weight beside others is told', () => {
  expect(told(sketch((prompt, copy) => (prompt + copy === 0 ? NONE : {})))[0]).toMatch(
    /^remark: 1 of 9 completions has no weight, though others to the same prompt have/,
  );
});
test('a prompt behind which nothing was sampled is asked about', () => {
  const empty = sketch(
    (prompt) => (prompt === 0 ? undefined : {}),
    (prompt, copy) => (prompt === 0 ? [] : (COMPLETIONS[copy] ?? [])),
  );
  expect(told(empty)[0]).toMatch(/^asks: Nothing was sampled after 3 prompts of 3 tokens \(step 0\)/);
});
test('rows that wait for a later step are not missed', () => {
  expect(told(sketch((prompt) => (prompt === 2 ? { step: 1 } : prompt === 1 ? undefined : {})))).toEqual([]);
});
test('a script that trains no policy is told nothing', () => {
  expect(told(sketch((prompt) => (prompt === 2 ? undefined : { weight: 0.1 })))).toEqual([]);
});

const cut = (lost: (prompt: number, copy: number) => number): LedgerSketch =>
  sketch(
    () => ({ spans: { completions: [{ from: 3, to: 6 }] } }),
    (prompt, copy) => [...(COMPLETIONS[copy] ?? []), ...Array<number>(lost(prompt, copy)).fill(30)],
  );
test('rows that all end one token before their completion are told', () => {
  expect(told(cut(() => 1))[0]).toMatch(
    /^remark: 9 trained rows of 9 end 1 token before the completion that was sampled for each/,
  );
});
test('rows that end by unlike numbers of tokens were cut at a limit', () => {
  expect(told(cut((prompt) => prompt + 1))).toEqual([]);
});
test('one row that is cut came to a limit', () => {
  expect(told(cut((prompt, copy) => Number(prompt + copy === 0)))).toEqual([]);
});
