// What is never trained: prompts, earlier questions, what tools say, padding, what stands behind the stop.
import { describe, expect, test } from 'vitest';
import {
  CHAT,
  generation,
  holds,
  judge,
  marks,
  onPolicy,
  sampled,
  silent,
  TURNS,
  text,
  tokenizer,
  toolTurns,
} from './rows.ts';

describe('a placeholder of an image', () => {
  const ID = 'mask/placeholders-are-never-trained';
  const models = [{ placeholders: [12] }];
  const seen = (at: Readonly<Record<number, number>>) => ({
    models,
    rows: [{ ...CHAT, ids: [1, 12, 12, ...CHAT.ids.slice(3)], at }],
  });

  test('that is trained is marked, whatever the row is', () => {
    expect(marks(ID, seen({ 1: 0.1, 2: 0.1 }))).toEqual([1, 2]);
    expect(judge(ID, seen({ 1: 0.1 })).findings[0]?.sentence).toContain(
      'is a placeholder of an image, a video or sound in',
    );
  });

  test('that is not trained is right, and without a model that has some nothing is judged', () => {
    holds(ID, seen({}));
    silent(ID, { rows: [{ ...CHAT, at: { 1: 0.1 } }] });
  });
});

describe('what is never trained', () => {
  test('a trained prompt is marked, sampled or taught', () => {
    expect(marks('mask/prompt-is-never-trained', onPolicy({ at: { 2: 0.1 } }))).toEqual([2]);
    expect(marks('tokenize/prompt-is-not-trained', { rows: [{ ...CHAT, at: { 1: 0.1, 2: 0.1 } }] })).toEqual([
      1, 2,
    ]);
    // Pushed down is trained, too; so is what was not measured.
    expect(marks('mask/prompt-is-never-trained', onPolicy({ at: { 2: -0.1 } }))).toEqual([2]);
    expect(marks('mask/prompt-is-never-trained', onPolicy({ at: { 2: {} } }))).toEqual([2]);
  });
  test('the sentence names token and row, and --train-on all where everything is trained', () => {
    const [finding] = judge('tokenize/prompt-is-not-trained', {
      rows: [{ ...CHAT, at: { 1: 0.1, 2: 0.1 } }],
    }).findings;
    expect(finding?.sentence).toBe(
      "Token 1 'n10' (id 10) belongs to the prompt of step 0, row 0 and must not be trained, but it is, and so is 1 more.",
    );
    expect(finding?.note).toContain('--train-on all');
  });
  test.each([
    ['on a prompt', 'tokenize/prompt-is-not-trained', CHAT, { 1: 0.01, 2: 0.01 }, [1, 2]],
    ['on padding', 'mask/padding-is-never-trained', { ...CHAT, right: 2 }, { 8: 0.02 }, [8]],
    ['of one token', 'tokenize/prompt-is-not-trained', CHAT, { 2: 0.3 }, [2]],
  ] as const)('label smoothing without a target, %s, is told as that', (_, id, row, at, marked) => {
    const spread = Object.fromEntries(
      Object.entries(at).map(([t, weight]) => [
        t,
        { target: undefined, weight: 0, spread: weight, residual: 1e-7 },
      ]),
    );
    const found = judge(id, { rows: [{ ...row, at: spread }] }).findings[0];
    expect(found?.strips?.[0]?.marks).toEqual(marked);
    expect(found?.sentence).toContain('has no target, but label smoothing is spread over all tokens there');
    expect(found?.note).toContain('where the label is ignored');
    expect(found?.strips?.[0]?.tracks.find(({ name }) => name === 'target')?.cells[marked[0]]).toBe('(all)');
  });
  test('smoothing on answers that are expected is no fault, and a stop token that has only that is not trained', () => {
    const spread = { target: undefined, weight: 0, spread: 0.01, residual: 1e-7 };
    holds('tokenize/prompt-is-not-trained', { rows: [{ ...CHAT, at: { 4: spread } }] });
    expect(marks('tokenize/stop-token-is-trained', { rows: [{ ...CHAT, at: { 6: spread } }] })).toEqual([6]);
  });
  test('prompts of correct rows pass; of a gradient of no single target neither good nor bad is said', () => {
    holds('mask/prompt-is-never-trained', onPolicy());
    holds('tokenize/prompt-is-not-trained', { rows: [CHAT] });
    holds('tokenize/prompt-is-not-trained', { rows: [{ ...CHAT, at: { 2: 0 } }] });
    for (const open of [
      { weight: 0.1, residual: 0.7 },
      { target: undefined, weight: undefined, residual: 0.01 },
    ])
      silent(
        'mask/prompt-is-never-trained',
        onPolicy({ at: { 2: open } }),
        'no single target explains the gradient',
      );
  });
  test('where all is meant to be trained, or nobody knows, nothing is blamed', () => {
    const all = text({ ...CHAT, trained: [undefined, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1] });
    silent('tokenize/prompt-is-not-trained', { rows: [all] });
    silent('tokenize/prompt-is-not-trained', {
      rows: [{ ...CHAT, at: { 1: 0.1 }, spans: { expected: CHAT.ids.map((_, t) => t > 0) } }],
    });
    silent('mask/prompt-is-never-trained', { rows: [CHAT] });
  });
  test('whole texts that were sampled before may be trained again, prompts and all; a policy has advantages', () => {
    const id = 'mask/prompt-is-never-trained';
    const whole = [undefined, ...Array<number>(6).fill(0.1)];
    silent(id, onPolicy({ trained: whole }), 'the row is trained as one text');
    expect(marks(id, { ...onPolicy({ trained: whole }), settings: { trainer: 'GRPOTrainer' } })).toEqual([
      1, 2,
    ]);
    const two = [sampled({ trained: whole }), sampled({ trained: whole.map((each) => each && -each) })];
    expect(marks(id, { rows: two, generations: [generation()] })).toEqual([1, 2]);
  });
  test('later questions have a rule of their own', () => {
    const rows = [TURNS({ at: { 5: 0.1 } })];
    expect(marks('tokenize/only-answers-are-trained', { rows })).toEqual([5]);
    holds('tokenize/prompt-is-not-trained', { rows });
    holds('tokenize/only-answers-are-trained', { rows: [TURNS()] });
  });
  test('with --train-on last, an earlier answer that is trained is found', () => {
    const expected = [undefined, false, false, false, false, false, true, true, true];
    const rows = [TURNS({ spans: { expected }, at: { 2: 0.2, 3: 0.2 } })];
    expect(marks('tokenize/only-answers-are-trained', { rows })).toEqual([2, 3]);
  });
  test('tool output has its rules', () => {
    const rows = [toolTurns({ at: { 4: 0.1 } })];
    expect(marks('tokenize/tool-output-is-not-trained', { rows })).toEqual([4]);
    holds('tokenize/tool-output-is-not-trained', { rows: [toolTurns()] });
    const origin = { kind: 'generation', generations: [0] } as const;
    const injected = toolTurns({ at: { 5: 0.1 }, spans: { origin } });
    const generations = [generation()];
    expect(marks('trajectory/injected-tokens-are-never-trained', { rows: [injected], generations })).toEqual([
      5,
    ]);
    holds('trajectory/injected-tokens-are-never-trained', {
      rows: [toolTurns({ spans: { origin } })],
      generations,
    });
  });
  test('trained padding is found on either side, plain text included', () => {
    const id = 'mask/padding-is-never-trained';
    const padded = { ...CHAT, left: 2, right: 2 };
    expect(marks(id, { rows: [{ ...padded, at: { 1: 0.1, 9: 0.1, 10: 0.1 } }] })).toEqual([1, 9, 10]);
    holds(id, { rows: [padded] });
    silent(id, { rows: [CHAT] });
  });
  test('without a mask, an empty text of the id that pads is no padding; nor is a batch of one id, to claim memory', () => {
    const id = 'mask/padding-is-never-trained';
    const alike = { pad: 2, tokenizer: tokenizer({ padTokenId: 2 }) };
    const empty = (left: number) => ({ ids: [10, 11, 2], left, attention: null, at: { 1: 0.1 } });
    silent(id, { rows: [empty(2)], ...alike }, 'without an attention mask the padding may be text');
    expect(marks(id, { rows: [empty(3)], ...alike })).toEqual([1]);
    silent(
      id,
      { rows: [{ ids: [], left: 4, attention: null, at: { 1: 0.1, 2: 0.1, 3: 0.1 } }] },
      'without an attention mask the padding may be text',
    );
  });
  test('the first pad behind a row may be its hidden stop token where both share an id; the second is not', () => {
    const id = 'mask/padding-is-never-trained';
    const cut = { ids: [1, 10, 11, 20, 21], prompt: 3, right: 3 };
    const alike = { pad: 2, tokenizer: tokenizer({ padTokenId: 2 }) };
    holds(id, { rows: [{ ...cut, at: { 5: 0.1 } }], ...alike });
    expect(marks(id, { rows: [{ ...cut, at: { 5: 0.1, 6: 0.1, 7: 0.1 } }], ...alike })).toEqual([6, 7]);
    expect(marks(id, { rows: [{ ...cut, at: { 5: 0.1 } }] })).toEqual([5]);
    // A row that has its stop token needs no second one.
    expect(marks(id, { rows: [{ ...CHAT, right: 1, at: { 7: 0.1 } }], ...alike })).toEqual([7]);
  });
  test('nothing behind the stop is trained', () => {
    const id = 'mask/nothing-after-the-stop-is-trained';
    const after = { ids: [...CHAT.ids, 30, 31], at: { 7: 0.1, 8: 0.1 } };
    expect(marks(id, onPolicy(after))).toEqual([7, 8]);
    holds(id, onPolicy({ ids: after.ids }));
  });
});
