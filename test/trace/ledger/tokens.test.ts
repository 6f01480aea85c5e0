// The rules about tokens: each kills a ledger with its fault, with the right token marked, and passes those of every
// correct trainer that it might be suspected to blame.
import { describe, expect, test } from 'vitest';
import { ledgerProperties } from '../../../properties/ledger/index.ts';
import type { Tokenizer } from '../../../src/tokenizers/tokenizer.ts';
import { type LedgerSketch, ledgerOf, type TrainedRowSketch } from '../traced.ts';
import { holds as held, judged, silent as quiet } from './judged.ts';

/** Ids of the sketches below: 0 pads, 1 is BOS, 2 stops. */
const tokenizer = (special: Partial<Tokenizer> = {}): Tokenizer => ({
  name: 'numbers',
  backend: 'huggingface',
  vocabSize: 100,
  encode: () => [],
  decode: (ids) => ids.map((id) => `n${id}`).join(''),
  token: (id) => `n${id}`,
  tokenId: () => undefined,
  specialIds: new Set([0, 1, 2]),
  bosTokenId: 1,
  eosTokenId: 2,
  padTokenId: 0,
  chatTemplate: undefined,
  ...special,
});

const named = (sketch: LedgerSketch): LedgerSketch => ({ tokenizer: tokenizer(), ...sketch });
const judge = (id: string, sketch: LedgerSketch) => judged(id, named(sketch));
const holds = (id: string, sketch: LedgerSketch) => held(id, named(sketch));
const silent = (id: string, sketch: LedgerSketch) => quiet(id, named(sketch));

/** The columns marked in the worst finding. */
const marks = (id: string, sketch: LedgerSketch): readonly number[] | undefined =>
  judge(id, sketch).findings[0]?.strips?.[0]?.marks;

/** A chat row: BOS, two of the question, three of the answer, stop. */
const CHAT: TrainedRowSketch = { ids: [1, 10, 11, 20, 21, 22, 2], prompt: 3 };

/** The same, sampled by generation `at` of the sketch. */
const sampled = (row: Partial<TrainedRowSketch> = {}, at = 0): TrainedRowSketch => ({
  ...CHAT,
  ...row,
  spans: { origin: { kind: 'generation', generations: [at] }, ...row.spans },
});
const generation = (over = {}) => ({ promptIds: [1, 10, 11], completionIds: [20, 21, 22, 2], ...over });
const onPolicy = (row: Partial<TrainedRowSketch> = {}): LedgerSketch => ({
  rows: [sampled(row)],
  generations: [generation()],
});

/** Two turns: prompt 1 10, answer 20 2, question 11 12, answer 21 22 2. */
const TURNS = (
  row: Partial<TrainedRowSketch> = {},
  origin = { kind: 'template' } as const,
): TrainedRowSketch => ({
  ids: [1, 10, 20, 2, 11, 12, 21, 22, 2],
  ...row,
  spans: {
    origin,
    roles: ['prompt', 'prompt', 'completion', 'stop', 'prompt', 'prompt', 'completion', 'completion', 'stop'],
    expected: [undefined, false, true, true, false, false, true, true, true],
    completions: [
      { from: 2, to: 4, stop: 3 },
      { from: 6, to: 9, stop: 8 },
    ],
    ...row.spans,
  },
});
const toolTurns = (row: Partial<TrainedRowSketch> = {}) => {
  const { spans } = TURNS();
  return TURNS({
    ...row,
    spans: {
      ...row.spans,
      roles: spans?.roles?.map((role, t) => (t === 4 || t === 5 ? 'tool' : role)) ?? [],
    },
  });
};

const text = (row: TrainedRowSketch): TrainedRowSketch => ({
  ...row,
  spans: { origin: { kind: 'text' }, expected: row.ids.map(() => undefined), completions: [], ...row.spans },
});

/** The prompt of CHAT. */
const NONE = [undefined, undefined, undefined];

const trainedAs = (targets: readonly (number | undefined)[], over = {}) =>
  targets.map((target) => (target === undefined ? undefined : { target, weight: 0.2, ...over }));

describe('trace/target-is-the-next-token', () => {
  const id = 'trace/target-is-the-next-token';
  const kind = (sketch: LedgerSketch) => judge(id, sketch).findings[0]?.kind;
  const itself: TrainedRowSketch = {
    ...CHAT,
    trained: trainedAs([undefined, undefined, undefined, 11, 20, 21, 22, undefined]),
  };

  test('labels that were never shifted train the token itself', () => {
    expect(kind({ rows: [itself] })).toBe('the token itself');
    expect(marks(id, { rows: [itself] })).toEqual([3, 4, 5, 6]);
    expect(judge(id, { rows: [itself] }).findings[0]?.sentence).toBe(
      "Token 3 'n20' (id 20) of step 0, row 0 follows, but the model was trained towards 'n11' (id 11) there: the token that the model had just read, and not the one that follows; 4 of the row's 4 targets are wrong.",
    );
  });
  test('labels that were shifted twice train the one after next', () => {
    const twice = trainedAs([undefined, undefined, 20, 21, 22, 2]);
    expect(kind({ rows: [{ ...CHAT, trained: twice }] })).toBe('the one after next');
  });
  test('labels of another row are named as such', () => {
    const other = [1, 12, 13, 30, 31, 32, 2];
    const rows = [
      { ...CHAT, trained: trainedAs([undefined, undefined, undefined, 30, 31, 32, 2]) },
      { ids: other, prompt: 3, trained: trainedAs([undefined, undefined, undefined, 20, 21, 22, 2]) },
    ];
    expect(kind({ rows })).toBe("another row's");
    expect(marks(id, { rows })).toEqual([3, 4, 5]);
  });
  test('labels of a longer row reach into the padding, and are no masked model', () => {
    const long = [1, 40, 41, 42, 43, 44, 45, 46, 47, 2];
    const pushed = (ids: readonly number[], from: number) =>
      trainedAs(long.map((_, t) => (t < from ? undefined : ids[t])));
    const short = [1, 12, 13, 30, 2];
    const rows = [
      text({ ids: long, trained: trainedAs([undefined, undefined, undefined, 30, 2]) }),
      text({ ids: short, right: 5, trained: pushed(long, 3) }),
    ];
    expect(judge(id, { rows }).findings.map((finding) => finding.kind)).toContain("another row's");
  });
  test('one wrong target is found, and only it marked', () => {
    expect(marks(id, { rows: [{ ...CHAT, at: { 4: { target: 77, weight: 0.1 } } }] })).toEqual([4]);
  });
  test('a row that is shifted is told once, and not as a trained prompt or a lost stop token', () => {
    const twice = { ...CHAT, trained: trainedAs([undefined, undefined, 20, 21, 22, 2]) };
    for (const other of ['prompt-is-not-trained', 'answer-is-trained', 'stop-token-is-trained'])
      silent(`tokenize/${other}`, { rows: [twice] });
    for (const other of ['prompt-is-never-trained', 'every-completion-token-is-trained'])
      silent(`mask/${other}`, onPolicy(twice));
  });
  test('right targets pass, those of packed rows and behind the end of the row too', () => {
    holds(id, { rows: [CHAT] });
    holds(id, { rows: [text({ ids: [5, 6, 7, 2, 8, 9, 2], trained: [...Array(7).fill(0.1), undefined] })] });
    // Inputs are all tokens but the last, labels all but the first: the last target is not in the row.
    holds(id, {
      rows: [text({ ids: [5, 6, 7], trained: [undefined, 0.3, 0.3, { target: 8, weight: 0.3 }] })],
    });
  });
  test('a term over the whole vocabulary, or one that was not measured, is no wrong target', () => {
    silent(id, { rows: [{ ...CHAT, trained: trainedAs([...NONE, 5, 5, 5, 5], { residual: 0.6 }) }] });
    silent(id, {
      rows: [{ ...CHAT, trained: trainedAs([...NONE, -1]).map((each) => each && { target: undefined }) }],
    });
  });
  test('a target that the model is sure of cannot be told from others', () => {
    const sure = { target: 77, weight: 0.1, logprob: -1e-9, residual: 0.4 };
    holds(id, { rows: [{ ...CHAT, at: { 4: sure } }] });
  });
  test('labels that are padded by themselves name the stop token where the inputs have padding', () => {
    const cut = text({
      ids: [5, 6, 7],
      right: 2,
      trained: [undefined, 0.3, 0.3, { target: 2, weight: 0.3 }],
    });
    holds(id, { rows: [cut] });
    silent('mask/padding-is-never-trained', { rows: [cut] });
  });
  test('inputs that are corrupted here and there keep their clean labels', () => {
    const ids = [11, 12, 13, 14, 15, 16, 17, 18];
    const noised = [3, 5, 6].map((column) =>
      text({
        ids: ids.map((each, t) => (t === column ? 90 + column : each)),
        trained: trainedAs([undefined, ...ids.slice(1)]),
      }),
    );
    silent(id, { rows: noised });
    // In one certain place it is a mistake.
    const stops = [1, 2, 3].map(() =>
      text({ ids, trained: trainedAs([undefined, ...ids.slice(1, -1), 77]) }),
    );
    expect(marks(id, { rows: stops })).toEqual([7]);
  });
  test('the words of a teacher are targets, hard or nearly so', () => {
    const words = trainedAs([...NONE, 50, 60, 70, 80]);
    expect(kind({ rows: [{ ...CHAT, trained: words }] })).toBe('target');
    silent(id, { rows: [{ ...CHAT, trained: words }], scored: [{ ids: CHAT.ids, model: 1 }] });
    const soft = words.map((each, t) => (t === 6 ? { target: 80, weight: 0.2, residual: 0.5 } : each));
    silent(id, { rows: [{ ...CHAT, trained: soft }] });
    // A shift is one, whoever reads along.
    expect(kind({ rows: [itself], scored: [{ ids: CHAT.ids, model: 1 }] })).toBe('the token itself');
  });
  test('a masked model is known by its mask, whatever its class is called', () => {
    const masked = text({
      ids: [5, 99, 7, 99, 99, 10],
      trained: trainedAs([undefined, undefined, 6, undefined, 8, 9]),
    });
    silent(id, { rows: [masked], models: [{ class: 'Denoiser' }] });
  });
  test('masked and encoder-decoder models predict other tokens than the next', () => {
    silent(id, { rows: [itself], models: [{ class: 'BertForMaskedLM' }] });
    silent(id, { rows: [itself], models: [{ class: 'T5ForConditionalGeneration' }] });
  });
});

describe('trace/one-target-explains-the-gradient', () => {
  const id = 'trace/one-target-explains-the-gradient';
  test('is advice: an entropy bonus is named, and no mistake', () => {
    expect(ledgerProperties.find((each) => each.id === id)?.level).toBe('may');
    const row = { ...CHAT, at: { 4: { weight: 0.1, residual: 0.3 } } };
    expect(marks(id, { rows: [row] })).toEqual([4]);
  });
  test('rounding is none', () => {
    holds(id, { rows: [CHAT] });
    holds(id, { rows: [{ ...CHAT, dtype: 'bfloat16', at: { 4: { weight: 0.1, residual: 0.03 } } }] });
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
  test('prompts of correct rows pass; of a gradient of no single target neither good nor bad is said', () => {
    holds('mask/prompt-is-never-trained', onPolicy());
    holds('tokenize/prompt-is-not-trained', { rows: [CHAT] });
    holds('tokenize/prompt-is-not-trained', { rows: [{ ...CHAT, at: { 2: 0 } }] });
    for (const open of [
      { weight: 0.1, residual: 0.7 },
      { target: undefined, weight: undefined, residual: 0.01 },
    ])
      silent('mask/prompt-is-never-trained', onPolicy({ at: { 2: open } }));
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
    silent(id, onPolicy({ trained: whole }));
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
    silent(id, { rows: [empty(2)], ...alike });
    expect(marks(id, { rows: [empty(3)], ...alike })).toEqual([1]);
    silent(id, { rows: [{ ids: [], left: 4, attention: null, at: { 1: 0.1, 2: 0.1, 3: 0.1 } }] });
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

describe('what must be trained of a sampled row', () => {
  const every = 'mask/every-completion-token-is-trained';
  const stop = 'mask/stop-token-is-trained-once';

  test('a missing token is marked, the first one with the shift', () => {
    expect(marks(every, onPolicy({ at: { 4: null } }))).toEqual([4]);
    const { findings } = judge(every, onPolicy({ at: { 3: null } }));
    expect(findings[0]?.note).toContain('shifted by one');
    expect(marks(every, onPolicy({ at: { 3: 0, 5: null } }))).toEqual([3, 5]);
  });
  test('the stop token of a trained completion is owed', () => {
    expect(marks(stop, onPolicy({ at: { 6: null } }))).toEqual([6]);
    const alike = tokenizer({ padTokenId: 2 });
    expect(judge(stop, { ...onPolicy({ at: { 6: null } }), tokenizer: alike }).findings[0]?.note).toContain(
      'same id',
    );
  });
  test('a stop token that was sampled and is in no row is missed, where a limit did not cut it off', () => {
    const bare = {
      completions: [{ from: 3, to: 6 }],
      origin: { kind: 'generation', generations: [0] },
    } as const;
    const short = { ids: [1, 10, 11, 20, 21, 22], prompt: 3, spans: bare };
    const long = sampled(
      { ids: [1, 10, 11, 30, 31, 32, 33], spans: { completions: [{ from: 3, to: 7 }] } },
      1,
    );
    const generations = [generation(), generation({ completionIds: [30, 31, 32, 33] })];
    expect(marks(stop, { rows: [short, long], generations })).toEqual([5]);
    expect(judge(stop, { rows: [short, long], generations }).findings[0]?.sentence).toContain(
      'ends without it',
    );
    silent(stop, { rows: [short], generations });
    const settings = { semantics: { stop_token_in_mask: false } };
    silent(stop, { rows: [short, long], generations, settings });
  });
  test('what was sampled and stands in no row is counted, with the nearest', () => {
    const rule = ledgerProperties.find(({ id }) => id === every);
    const lack = rule?.needs?.(
      ledgerOf(named({ rows: [CHAT], generations: [generation({ promptIds: [1, 10, 12] })] })),
    );
    expect(lack).toBe(
      '1 sequence was sampled, and none stands in a trained row: the nearest is like one for its first 2 of 7 tokens',
    );
    expect(rule?.needs?.(ledgerOf(named({ rows: [CHAT] })))).toContain('nothing was seen that samples');
  });
  test('a stop token alone owes nothing to a completion that is not trained', () => {
    silent(stop, onPolicy({ at: { 3: null, 4: null, 5: null } }));
    expect(marks(every, onPolicy({ at: { 3: null, 4: null, 5: null } }))).toEqual([3, 4, 5]);
  });
  test('both are right in a correct row, pushed up or down', () => {
    for (const weight of [0.1, -0.1]) {
      holds(every, onPolicy({ weight }));
      holds(stop, onPolicy({ weight }));
    }
  });
  test('a stop token declared to be left out is wrong where it is trained, and right where not', () => {
    const settings = { semantics: { stop_token_in_mask: false } };
    holds(stop, { ...onPolicy({ at: { 6: null } }), settings });
    expect(marks(stop, { ...onPolicy(), settings })).toEqual([6]);
  });
  test('a group without reward variance is left out whole', () => {
    const none = { trained: Array(8).fill(undefined) };
    for (const id of [every, stop]) silent(id, onPolicy(none));
    for (const id of [every, stop]) silent(id, onPolicy({ trained: Array(8).fill(0) }));
    const two = { rows: [sampled(), sampled(none)], generations: [generation()] };
    holds(every, two);
  });
  test('a row that no backward pass reached says nothing', () => {
    silent(every, onPolicy({ reached: false, trained: [] }));
  });
  test('a truncated completion may be left out whole, or trained whole, and not in part', () => {
    const cut = {
      ids: [1, 10, 11, 20, 21, 22],
      spans: {
        expected: [undefined, false, false, undefined, undefined, undefined],
        roles: ['prompt', 'prompt', 'prompt', 'completion', 'completion', 'completion'] as const,
        completions: [{ from: 3, to: 6 }],
      },
    };
    silent(every, onPolicy({ ...cut, trained: Array(7).fill(undefined) }));
    const whole = [undefined, undefined, undefined, 0.3, 0.3, 0.3];
    holds(every, onPolicy({ ...cut, trained: whole }));
    expect(marks(every, onPolicy({ ...cut, trained: [...whole.slice(0, 5), undefined] }))).toEqual([5]);
    silent(stop, onPolicy({ ...cut, trained: whole }));
  });
  test('a token that the model is sure of may lose its gradient', () => {
    holds(every, onPolicy({ at: { 4: null }, logprobs: [Number.NaN, -2, -2, -2, -1e-7, -2, -2] }));
  });

  const moved = (rows: readonly Partial<TrainedRowSketch>[]): LedgerSketch => ({
    rows: rows.map((row) => sampled({ step: 1, ...row })),
    generations: [generation()],
  });
  test('where the policy has moved, a clipped token is no missing one', () => {
    const clipped = [{ at: { 4: null } }, { at: { 6: null } }, {}, {}];
    holds(every, moved(clipped));
    holds(stop, moved(clipped));
  });
  test('rewards token by token leave many without a weight, here and there; one that is declared leaves none', () => {
    const ids = [1, 10, 11, 20, 21, 22, 23, 24, 2];
    const some = [[4, 6], [5], [4, 7], [6, 8]].map((columns) =>
      sampled({ ids, prompt: 3, weight: 0.1, at: Object.fromEntries(columns.map((t) => [t, null])) }),
    );
    const generations = [generation({ completionIds: ids.slice(3) })];
    expect(judge(every, { rows: some, generations }).findings).toEqual([]);
    expect(judge(stop, { rows: some, generations }).findings).toEqual([]);
    const settings = { trainer: 'GRPOTrainer' };
    expect(judge(every, { rows: some, generations, settings }).findings).toHaveLength(3);
  });
  test('but what every completion misses is', () => {
    const rows = Array(8).fill({});
    expect(marks(stop, moved(rows.map(() => ({ at: { 6: null } }))))).toEqual([6]);
    expect(marks(every, moved(rows.map(() => ({ at: { 3: null } }))))).toEqual([3]);
    expect(judge(every, moved(rows.map(() => ({ at: { 3: null } })))).more).toBeGreaterThan(0);
  });
  test('where only the KL term is left, it may be nothing at a token', () => {
    holds(every, {
      ...onPolicy({ weight: [1e-5, -3e-6, 0, 2e-6] }),
      rows: [sampled({ weight: [1e-5, -3e-6, 0, 2e-6] }), sampled()],
    });
    expect(judge(every, onPolicy({ weight: [1e-5, -3e-6, 0, 2e-6] })).findings).toEqual([]);
  });
  test('a trainer told to train tokens of high entropy only leaves the others out', () => {
    const settings = { values: { top_entropy_quantile: 0.2 } };
    expect(judge(every, { ...onPolicy({ at: { 4: null } }), settings }).findings).toEqual([]);
  });
});

describe('what must be trained of a row of a data set', () => {
  const answer = 'tokenize/answer-is-trained';
  const earlier = 'tokenize/every-answer-is-trained';

  test('what stands in front of every answer and is trained in none was prefilled', () => {
    const row = (ids: number[], at: TrainedRowSketch['at']): TrainedRowSketch => ({
      ids: [1, 10, 30, 31, ...ids, 2],
      prompt: 2,
      spans: { origin: { kind: 'template' } },
      at: at ?? {},
    });
    const off = { 2: null, 3: null };
    holds(answer, { rows: [row([20, 21], off), row([22], off)] });
    expect(marks(answer, { rows: [row([20, 21], off), row([22], {})] })).toEqual([2, 3]);
    expect(marks(answer, { rows: [row([20, 21], { 2: null }), row([22], { 2: null })] })).toEqual([2]);
  });
  const stop = 'tokenize/stop-token-is-trained';

  test('an answer in part, or not at all', () => {
    expect(marks(answer, { rows: [{ ...CHAT, at: { 3: null } }] })).toEqual([3]);
    const none = { rows: [{ ...CHAT, trained: [] }] };
    expect(marks(answer, none)).toEqual([3, 4, 5]);
    expect(judge(answer, none).findings[0]?.note).toContain('-100');
    holds(answer, { rows: [CHAT] });
  });
  test('pad equal to eos that masks the stop token', () => {
    const rows = [{ ...CHAT, at: { 6: null } }];
    const alike = tokenizer({ padTokenId: 2 });
    expect(marks(stop, { rows })).toEqual([6]);
    expect(judge(stop, { rows, tokenizer: alike }).findings[0]?.note).toContain('same id');
    holds(stop, { rows: [CHAT], tokenizer: alike, pad: 2 });
  });
  test('pad equal to eos that masks the stop token of plain texts', () => {
    const alike = tokenizer({ padTokenId: 2, eosTokenId: 2 });
    const ended = (ids: readonly number[], more = {}) =>
      text({ ids, trained: ids.map((id, t) => (t === 0 || id === 2 ? undefined : 0.1)), ...more });
    const [long, short] = [ended([5, 6, 7, 8, 2]), ended([9, 8, 2], { right: 2 })];
    const masked = { rows: [long, short], tokenizer: alike, pad: 2 };
    expect(judge(stop, masked).findings[0]?.sentence).toContain('ends the text of');
    // Texts are packed into rows, and no row has padding.
    const packed = { ...masked, rows: [ended([5, 6, 2, 7, 8]), ended([9, 8, 2, 6, 5])] };
    expect(judge(stop, packed).findings[0]?.sentence).toContain('ends the text of');
    silent(stop, { ...masked, tokenizer: tokenizer({ padTokenId: 0, eosTokenId: 2 }) });
    silent(stop, { ...masked, rows: [short] });
    const trained = text({ ids: [5, 6, 7, 8, 2], trained: [undefined, 0.1, 0.1, 0.1, 0.1] });
    silent(stop, { ...masked, rows: [trained, short] });
    // A mask of ones, over texts without a stop token: what has its id is padding.
    const ones = { right: 1, attention: [1, 1, 1, 1] };
    silent(stop, { ...masked, rows: [ended([5, 6, 7], ones), ended([5, 8, 9], ones)] });
  });
  test('a row that is cut has no stop token, and one whose answer is cut away owes nothing', () => {
    const cut = { ids: [1, 10, 11, 20, 21], prompt: 3 };
    holds(answer, { rows: [cut] });
    silent(stop, { rows: [cut] });
    silent(answer, { rows: [{ ids: [1, 10, 11], prompt: 3 }] });
  });
  test('an earlier answer in part is wrong; one left out is where every turn is declared', () => {
    const part = TURNS({ ids: [1, 10, 20, 2, 11, 12, 21, 22, 2], at: { 3: null } });
    expect(marks(stop, { rows: [part] })).toEqual([3]);
    const out = { rows: [TURNS({ at: { 2: null, 3: null } })] };
    silent(earlier, out);
    silent(earlier, { ...out, settings: { trainOn: 'completion' } });
    expect(marks(earlier, { ...out, settings: { values: { assistant_only_loss: true } } })).toEqual([2]);
    expect(marks(earlier, { ...out, settings: { trainOn: 'assistant' } })).toEqual([2]);
    holds(earlier, { rows: [TURNS()] });
    holds(answer, out);
  });
  test('the last answer is owed where an earlier one is trained', () => {
    expect(marks(answer, { rows: [TURNS({ at: { 6: null, 7: null, 8: null } })] })).toEqual([6, 7]);
  });
  test('rows of pairs: negative weights are training, and a pair told apart weighs nothing', () => {
    const rejected = { ...CHAT, weight: -0.1 };
    for (const id of [answer, stop]) holds(id, { rows: [CHAT, rejected] });
    expect(marks(stop, { rows: [CHAT, { ...rejected, at: { 6: null } }] })).toEqual([6]);
    silent(answer, { rows: [{ ...CHAT, trained: [] }], settings: { trainer: 'DPOTrainer' } });
    expect(judge(answer, { rows: [CHAT, rejected, { ...CHAT, trained: [] }] })).toMatchObject({
      judged: 2,
      setAside: 1,
      findings: [],
    });
  });
});

describe('tokenize/exactly-the-right-number-of-bos', () => {
  const id = 'tokenize/exactly-the-right-number-of-bos';
  const doubled = { ids: [1, 1, 10, 20, 2], prompt: 3 };
  test('a doubled BOS is marked, behind padding too', () => {
    expect(marks(id, { rows: [doubled, doubled] })).toEqual([1]);
    expect(marks(id, { rows: [{ ...doubled, left: 2 }] })).toEqual([3]);
  });
  test('one BOS, none, and a text that spells one pass', () => {
    holds(id, { rows: [CHAT] });
    holds(id, { rows: [{ ids: [10, 20, 2] }] });
    holds(id, { rows: [CHAT, CHAT, doubled] });
  });
  test('where BOS ends texts as well, plain text may have two, and padding cannot be told from it', () => {
    const alike = { tokenizer: tokenizer({ bosTokenId: 2, padTokenId: 2 }), pad: 2 };
    silent(id, { rows: [text({ ids: [2, 2, 10, 11, 2] })], ...alike });
    silent(id, { rows: [{ ids: [2, 10, 20, 2], left: 2, attention: null }], ...alike });
    expect(marks(id, { rows: [{ ids: [2, 2, 10, 20, 2], prompt: 3 }], ...alike })).toEqual([1]);
  });
});

describe('attention', () => {
  const taught = 'collate/attention-covers-exactly-the-examples';
  const rolled = 'rollout/attention-covers-exactly-the-real-tokens';
  const left = { ...CHAT, left: 2, attention: Array(9).fill(1) };
  test('left padding that the model sees is marked', () => {
    expect(marks(taught, { rows: [left] })).toEqual([0, 1]);
    expect(marks(rolled, onPolicy(left))).toEqual([0, 1]);
  });
  test('pads that nobody marked are known by what they do to a batch', () => {
    const prompt = Array(9).fill('prompt').fill('completion', 5);
    const unmarked = { ...left, real: Array(9).fill(true), spans: { roles: prompt } };
    const mate = { ids: [1, 10, 11, 12, 13, 20, 21, 22, 2], prompt: 5 };
    expect(marks(taught, { rows: [unmarked, mate] })).toEqual([0, 1]);
    holds(taught, { rows: [unmarked] });
    // Of no known role, and of no id that pads anything.
    holds(taught, { rows: [left], pad: 7 });
    holds(taught, { rows: [unmarked, { ...mate, ids: mate.ids.slice(2), prompt: 3, right: 2 }] });
  });
  test('the pad token where a prompt that is known begins was typed', () => {
    const typed = { ids: [0, 10, 11, 20, 21, 2], prompt: 3, left: 2, attention: [0, 0, 1, 1, 1, 1, 1, 1] };
    const origin = { kind: 'dataset', example: 0, form: 'prompt and completion' } as const;
    const mate = { ids: [1, 10, 11, 12, 13, 20, 21, 2], prompt: 5 };
    holds(taught, { rows: [{ ...typed, spans: { origin } }, mate] });
    // Of no known prompt, as of all that the mask shows.
    expect(marks(taught, { rows: [typed, mate] })).toEqual([2]);
  });
  test('attention on trailing pads is harmless, and so is a hidden last stop token', () => {
    holds(taught, { rows: [{ ...CHAT, right: 2, attention: Array(9).fill(1) }] });
    holds(taught, { rows: [{ ...CHAT, attention: [1, 1, 1, 1, 1, 1, 0], real: Array(7).fill(true) }] });
  });
  test('a real token that is hidden is marked', () => {
    const hidden = { ...CHAT, attention: [1, 0, 1, 1, 1, 1, 1] };
    expect(marks(taught, { rows: [{ ...hidden, real: Array(7).fill(true) }] })).toEqual([1]);
    // As the ledger has it where only the mask tells what is real.
    expect(marks(taught, { rows: [{ ...hidden, real: [true, false, ...Array(5).fill(true)] }] })).toEqual([
      1,
    ]);
  });
  test('stop tokens of earlier turns that were taken for pads are marked', () => {
    const alike = { tokenizer: tokenizer({ padTokenId: 2 }), pad: 2 };
    const ids = [1, 10, 2, 20, 2, 11, 12, 21, 2];
    const attention = ids.map((id) => Number(id !== 2));
    const row = { ids, attention, real: attention.map(Boolean), prompt: 7 };
    expect(marks(taught, { rows: [row], ...alike })).toEqual([2, 4]);
  });
  test('a prompt block with its padding at its right, packed examples with padding between them, no mask', () => {
    const ids = [1, 10, 0, 0, 20, 21, 2];
    const attention = [1, 1, 0, 0, 1, 1, 1];
    const row = { ids, attention, real: attention.map(Boolean), prompt: 4 };
    holds(taught, { rows: [row] });
    holds(rolled, onPolicy({ ...row, positions: 'mask' }));
    holds(taught, { rows: [{ ...row, positions: [0, 1, 0, 0, 0, 1, 2] }] });
    const alike = { tokenizer: tokenizer({ padTokenId: 2 }), pad: 2 };
    holds(taught, { rows: [{ ...row, ids: [1, 10, 2, 2, 20, 21, 2] }], ...alike });
    const three = [1, 10, 2, 11, 12, 2, 13, 14];
    const packed = { ids: three, attention: three.map((id) => Number(id !== 2)), prompt: 1 };
    const begun = { ...packed, positions: [0, 1, 0, 0, 1, 0, 0, 1], real: packed.attention.map(Boolean) };
    holds(taught, { rows: [begun], ...alike });
    silent(taught, { rows: [{ ...CHAT, attention: null }] });
  });
});

describe('positions', () => {
  const taught = 'collate/positions-count-real-tokens';
  const rolled = 'mask/positions-count-real-tokens';
  const learnt = { models: [{ class: 'GPT2LMHeadModel', positions: 'absolute' as const }] };
  const left = { ...CHAT, left: 2 };
  test('left padding without position_ids moves a model with absolute positions', () => {
    expect(marks(taught, { rows: [left], ...learnt })?.[0]).toBe(2);
    expect(marks(rolled, { ...onPolicy(left), ...learnt })?.[0]).toBe(2);
    expect(judge(taught, { rows: [left], ...learnt }).findings[0]?.note).toContain('cumsum');
  });
  test('so do position_ids that count padding', () => {
    const positions = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    expect(marks(taught, { rows: [{ ...left, positions }], ...learnt })?.[0]).toBe(2);
  });
  test('left padding that no mask tells of is known by its ids, in a batch whose longest row has none', () => {
    const hidden = { attention: null, forward: 0 };
    const longest = { ...CHAT, ids: [1, 10, 11, 12, 13, 20, 21, 22, 2], prompt: 5, ...hidden };
    const batch = { rows: [{ ...left, ...hidden }, longest], tokenizer: tokenizer(), ...learnt };
    expect(marks(taught, batch)?.[0]).toBe(2);
    silent(taught, { ...batch, rows: [{ ...left, ...hidden }] });
    silent(taught, { ...batch, tokenizer: undefined });
  });
  test('positions that count from 2, of a row with two pads in front, are not columns', () => {
    const positions = [1, 1, 2, 3, 4, 5, 6, 7, 8];
    holds(taught, { rows: [{ ...left, positions }], ...learnt });
  });
  test('a rotary model does not notice, nor does one that counts the mask itself, nor is an unknown one blamed', () => {
    holds(taught, { rows: [left] });
    silent(taught, { rows: [left], models: [{ class: 'OPTForCausalLM', positions: 'absolute' }] });
    silent(taught, { rows: [left], models: [{ positions: 'unknown' }] });
  });
  test('positions counted over the mask, right padding, packed rows that begin again or do not, shifted starts', () => {
    holds(taught, { rows: [{ ...left, positions: 'mask' }], ...learnt });
    holds(taught, { rows: [{ ...CHAT, right: 2 }], ...learnt });
    holds(taught, { rows: [{ ...CHAT, positions: [0, 1, 2, 0, 1, 2, 3] }], ...learnt });
    holds(taught, { rows: [{ ...CHAT, positions: [0, 1, 2, 3, 4, 5, 6] }], ...learnt });
    holds(taught, { rows: [{ ...CHAT, positions: [2, 3, 4, 5, 6, 7, 8] }], ...learnt });
    // Two examples of one token: each begins at 0.
    holds(taught, { rows: [{ ...CHAT, positions: [0, 1, 2, 3, 0, 0, 1] }], ...learnt });
    // Skipped positions are a way to train for longer rows.
    holds(taught, { rows: [{ ...CHAT, positions: [0, 1, 2, 500, 501, 502, 503] }] });
  });
  test('a hidden token is the business of the rule about attention', () => {
    const real = [true, false, true, true, true, true, true];
    silent(taught, { rows: [{ ...CHAT, attention: real.map(Number), real }] });
  });
  test('tokens that share one position are marked', () => {
    expect(marks(taught, { rows: [{ ...CHAT, positions: [0, 0, 0, 0, 0, 0, 0] }] })?.[0]).toBe(2);
  });
  test('padding in the middle that is counted is marked, and counted over the mask it is right', () => {
    const ids = [1, 10, 0, 0, 20, 21, 2];
    const attention = [1, 1, 0, 0, 1, 1, 1];
    const row = { ids, attention, real: attention.map(Boolean), prompt: 4 };
    expect(marks(rolled, onPolicy(row))).toEqual([4]);
    holds(rolled, onPolicy({ ...row, positions: 'mask' }));
  });
});

test('a ledger without trained rows supports none of the rules about tokens', () => {
  const ledger = ledgerOf({ rows: [{ ...CHAT, reached: false, trained: [] }], tokenizer: tokenizer() });
  const own = ledgerProperties.filter(({ id }) =>
    /^(mask|tokenize|trajectory|collate|trace\/.*target)/.test(id),
  );
  for (const property of own) expect(property.needs?.(ledger), property.id).toBeDefined();
});

test('of many findings the worst are told, and the others counted', () => {
  const rows = [1, 2, 1, 1, 1].map((wrong) => ({
    ...CHAT,
    at: { 1: 0.1, ...(wrong > 1 ? { 2: 0.1 } : {}) },
  }));
  const { findings, more, judged } = judge('tokenize/prompt-is-not-trained', { rows });
  expect(findings[0]?.sentence).toContain('row 1 ');
  expect([findings.length + more, judged]).toEqual([5, 5]);
  expect(more).toBeGreaterThan(0);
});

test('a place says the rank where there are several, and the forward pass where a step has more than one', () => {
  const sentence = (rows: readonly TrainedRowSketch[]) =>
    judge('tokenize/prompt-is-not-trained', { rows }).findings[0]?.sentence;
  const wrong = { ...CHAT, at: { 1: 0.1 }, row: 3, step: 1 };
  expect(sentence([wrong])).toContain('of step 1, row 3 and');
  expect(sentence([wrong, { ...CHAT, rank: 1, row: 0, step: 1 }])).toContain('step 1, row 3 of rank 0');
  expect(sentence([wrong, { ...CHAT, forward: 2, row: 0, step: 1 }])).toContain(
    'step 1, forward pass 1, row 3',
  );
});
