// Returns over what a tool wrote, the seam between prompt and completion, and a denominator that counts the first column: wrong at the
// default level, and a question where another reading is legal and nobody has declared it.
import { describe, expect, test } from 'vitest';
import type { Args, Hello, Ok, PropertyResult, Semantics } from '../../../src/index.ts';
import { returns } from '../../conformance/advantages/tokens.ts';
import { legal } from '../../conformance/legal.ts';
import { judgedBy } from './judged.ts';

type Ops = Parameters<typeof legal>[1];

async function judged(
  ids: readonly string[],
  ops: Ops,
  semantics: Semantics = {},
  more: Partial<Hello> = {},
): Promise<readonly PropertyResult[]> {
  return await judgedBy(ids, legal('x', ops, { ...more, semantics }).trainer);
}

const said = (results: readonly PropertyResult[]): unknown[] =>
  results.map(({ level, verdict, failure }) => [level, verdict, failure?.finding?.answers]);

describe('returns', () => {
  const IDS = ['returns/undiscounted-reach-over-gaps', 'returns/masked-tokens-are-no-steps'];
  /** `stays`: what is left of the sum behind a masked token. */
  const over =
    (stays: (args: { readonly toCome: number; readonly gamma: number }) => number) =>
    ({ rewards, completion_mask: mask, gamma }: Args<'returns'>): Ok<'returns'> => ({
      returns: rewards.map((row, b) => {
        const out = row.map(() => 0);
        let toCome = 0;
        for (let t = row.length - 1; t >= 0; t--) {
          toCome = mask[b]?.[t] === 1 ? (row[t] ?? 0) + gamma * toCome : stays({ toCome, gamma });
          out[t] = toCome;
        }
        return out;
      }),
    });
  const ofTurns = over(() => 0);
  const QUESTION = '"turns_are_episodes": true  (the returns of a turn end with it)';

  test('that end with each turn are a question, until one line says that they are meant or not', async () => {
    expect(said(await judged(IDS, { returns: ofTurns }, { single_turn: false }))).toEqual(
      IDS.map(() => ['must', 'ask', [QUESTION]]),
    );
    const meant = await judged(IDS, { returns: ofTurns }, { turns_are_episodes: true });
    expect(meant.map(({ verdict }) => verdict)).toEqual(IDS.map(() => 'unsupported'));
    const wrong = await judged(IDS, { returns: ofTurns }, { turns_are_episodes: false, single_turn: false });
    expect(wrong.map(({ verdict }) => verdict)).toEqual(IDS.map(() => 'fail'));
  });

  test.each([
    ['half of them is lost', ({ toCome }: { toCome: number }) => toCome / 2],
    ['their sign turns', ({ toCome }: { toCome: number }) => -toCome],
    ['they grow', ({ toCome }: { toCome: number }) => 2 * toCome],
  ])('over a tool, %s: wrong', async (_, stays) => {
    const results = await judged(IDS, { returns: over(stays) }, { single_turn: false });
    expect(said(results)).toEqual(IDS.map(() => ['must', 'fail', undefined]));
  });

  test('over a tool, they are discounted: wrong', async () => {
    const steps = over(({ toCome, gamma }) => gamma * toCome);
    expect(said(await judged(IDS.slice(1), { returns: steps }, { single_turn: false }))).toEqual([
      ['must', 'fail', undefined],
    ]);
  });

  test('over a tool, they are carried: right', async () => {
    const results = await judged(IDS, { returns: returns() }, { single_turn: false });
    expect(results.map(({ verdict }) => verdict)).toEqual(IDS.map(() => 'pass'));
  });
});

describe('the seam', () => {
  const IDS = ['score/the-seam-is-no-token'];
  const tokens = { tokens: { vocab_size: 40, pad_token_id: 0, eos_token_ids: [2] } };
  type Before = (row: readonly number[], at: number, seam: number) => number;
  /** A model of one number made of what it reads before a token. */
  const scoring =
    (before: Before) =>
    ({ prompt_ids: prompts, completion_ids: completions }: Args<'score'>): Ok<'score'> => ({
      logprobs: completions.map((ids, b) => {
        const prompt = prompts[b] ?? [];
        const row = [...prompt, ...ids];
        return ids.map((id, t) => -4 - Math.sin(id + before(row, prompt.length + t, prompt.length)) ** 2);
      }),
    });
  const all: Before = (row, at) =>
    row.slice(0, at).reduce((sum, id, place) => sum + id * Math.sin(place + 1), 0);
  const WRONG: [string, Before][] = [
    [
      'the last token of a cached prefix is left out',
      (row, at, seam) => all(row.toSpliced(seam - 1, 1), at - 1, seam),
    ],
    ['it is there twice', (row, at, seam) => all(row.toSpliced(seam, 0, row[seam - 1] ?? 0), at + 1, seam)],
    ['positions begin anew', (row, at, seam) => all(row.slice(seam), at - seam, 0)],
    [
      'positions are one off',
      (row, at, seam) => all([...row.slice(0, seam), 0, ...row.slice(seam)], at + 1, seam),
    ],
  ];

  test.each(WRONG)('%s: asked, and wrong where no prefix model is declared', async (_, before) => {
    const ops = { score: scoring(before) };
    expect(said(await judged(IDS, ops, {}, tokens))).toEqual([
      ['must', 'ask', ['"prefix_attention": true  (the model reads its prompt in both directions)']],
    ]);
    expect(said(await judged(IDS, ops, { prefix_attention: false }, tokens))).toEqual([
      ['must', 'fail', undefined],
    ]);
  });

  test.each<[string, Before]>([
    ['a causal model', all],
    ['a model of the last token', (row, at) => row[at - 1] ?? 0],
  ])('%s has none', async (_, before) => {
    expect((await judged(IDS, { score: scoring(before) }, {}, tokens)).map(({ verdict }) => verdict)).toEqual(
      ['pass'],
    );
  });

  type Key = (prompt: readonly number[]) => string;
  /** States of prompts are kept within a call, by what `key` makes of each. */
  const caching =
    (key: Key) =>
    ({ prompt_ids: prompts, completion_ids: completions }: Args<'score'>): Ok<'score'> => {
      const kept = new Map<string, readonly number[]>();
      const found = prompts.map((prompt) => {
        const name = key(prompt);
        if (!kept.has(name)) kept.set(name, prompt);
        return kept.get(name) ?? [];
      });
      return scoring(all)({ prompt_ids: found, completion_ids: completions });
    };

  test.each<[string, Key]>([
    ['their length and last token', (prompt) => `${prompt.length} ${prompt.at(-1)}`],
    ['their first token', (prompt) => `${prompt[0]}`],
    ['the tokens of them, in any order', (prompt) => [...prompt].sort().join(' ')],
  ])('of prompts that are cached by %s is no question of a prefix', async (_, key) => {
    const asked = await judged(IDS, { score: caching(key) }, {}, tokens);
    for (const { verdict, failure } of asked) {
      expect(verdict).not.toBe('ask');
      if (failure !== undefined) expect(failure.finding?.sentence).toContain('when its row is scored alone');
    }
  });

  test.each<[string, Key]>([
    ['all their tokens', (prompt) => prompt.join(' ')],
    ['all their tokens, last first', (prompt) => [...prompt].reverse().join(' ')],
    ['nothing: a new one each time', () => `${Math.random()}`],
  ])('of prompts that are cached by %s is none', async (_, key) => {
    const [result] = await judged(IDS, { score: caching(key) }, {}, tokens);
    expect(result?.verdict).toBe('pass');
  });
});
