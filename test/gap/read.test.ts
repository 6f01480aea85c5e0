// Rows of rollouts as frameworks write them, and what is said of those that cannot be compared.
import { describe, expect, test } from 'vitest';
import { type Recorded, rolloutsOf } from '../../src/gap/read/read.ts';
import { sided } from '../../src/gap/read/sides.ts';

const IDS = [11, 12, 13];
const SAMPLED = [-0.5, -1, -0.25];
const TRAINED = [-0.4, -1.1, -0.2];

function only(row: object, named = {}): Recorded {
  const [rollout, ...others] = rolloutsOf(row, 'a.jsonl row 1', named);
  if (rollout === undefined || 'complaint' in rollout) throw new Error(rollout?.complaint ?? 'no row');
  expect(others).toEqual([]);
  return rollout;
}

function complaintOf(row: unknown): string {
  const [read] = rolloutsOf(row, 'a.jsonl row 1');
  return read !== undefined && 'complaint' in read ? read.complaint : 'none';
}

const ROWS: Readonly<Record<string, object>> = {
  TRL: {
    prompt_ids: [1, 2],
    completion_ids: IDS,
    sampling_per_token_logps: SAMPLED,
    old_per_token_logps: TRAINED,
  },
  verl: { prompt_ids: [1, 2], response_ids: IDS, rollout_log_probs: SAMPLED, old_log_probs: TRAINED },
  OpenRLHF: { prompt_ids: [1, 2], response_ids: IDS, rollout_log_probs: SAMPLED, action_log_probs: TRAINED },
  SkyRL: {
    prompt_token_ids: [1, 2],
    response_ids: IDS,
    rollout_logprobs: SAMPLED,
    action_log_probs: TRAINED,
  },
  slime: { tokens: [1, 2, ...IDS], response_length: 3, rollout_log_probs: SAMPLED, log_probs: TRAINED },
  'NeMo-RL, whole rows': {
    token_ids: [1, 2, ...IDS],
    token_loss_mask: [0, 0, 1, 1, 1],
    generation_logprobs: [0, 0, ...SAMPLED],
    prev_logprobs: [0, 0, ...TRAINED],
  },
  'a trainer that has no value for the first token of a row': {
    prompt_ids: [1, 2],
    completion_ids: IDS,
    rollout_log_probs: SAMPLED,
    old_log_probs: [-3, ...TRAINED],
  },
  'vLLM, by id': {
    prompt_token_ids: [1, 2],
    outputs: [
      {
        token_ids: IDS,
        logprobs: IDS.map((id, at) => ({
          [id]: { logprob: SAMPLED[at], rank: 1 },
          99: { logprob: -0.1, rank: 2 },
        })),
      },
    ],
    trainer_logprobs: TRAINED,
  },
  'the chat API': {
    prompt_token_ids: [1, 2],
    choices: [{ token_ids: IDS, logprobs: { content: SAMPLED.map((logprob) => ({ token: 'a', logprob })) } }],
    trainer_logprobs: TRAINED,
  },
  SGLang: {
    prompt_ids: [1, 2],
    output_ids: IDS,
    meta_info: { output_token_logprobs: IDS.map((id, at) => [SAMPLED[at], id, null]), weight_version: '7' },
    trainer_logprobs: TRAINED,
  },
};

describe('a row of', () => {
  test.each(Object.keys(ROWS))('%s is read', (name) => {
    const { prompt, ids, sampling, trainer } = only(ROWS[name] ?? {});
    expect([...ids]).toEqual(IDS);
    expect([...prompt]).toEqual([1, 2]);
    expect([...(sampling ?? [])]).toEqual(SAMPLED);
    expect([...(trainer ?? [])]).toEqual(TRAINED);
  });

  test('vLLM with two completions is two rollouts', () => {
    const output = { token_ids: IDS, logprobs: SAMPLED, trainer_logprobs: TRAINED };
    expect(rolloutsOf({ prompt_token_ids: [1], outputs: [output, output] }, 'a row 1')).toHaveLength(2);
  });
});

test('fields that the user names count before those that are known', () => {
  const row = { completion_ids: IDS, rollout_log_probs: TRAINED, mine: SAMPLED, theirs: TRAINED };
  const { sampling, names } = only(row, { sampling: 'mine', trainer: 'theirs' });
  expect([...(sampling ?? [])]).toEqual(SAMPLED);
  expect(names).toEqual({ sampling: 'mine', trainer: 'theirs' });
});

test('a mask says which tokens the policy wrote, and a version is of the row or of each token', () => {
  const sides = { completion_ids: IDS, rollout_log_probs: SAMPLED, old_log_probs: TRAINED };
  const masked = only({ ...sides, response_mask: [1, 0, 1], versions: [3, 3, 4] });
  expect(IDS.map((_, at) => masked.written(at))).toEqual([true, false, true]);
  expect(IDS.map((_, at) => masked.version?.(at))).toEqual([3, 3, 4]);
  const whole = only({ ...sides, prompt_ids: [1, 2], loss_mask: [0, 0, 1, 0, 1], weight_version: '7' });
  expect(IDS.map((_, at) => whole.written(at))).toEqual([true, false, true]);
  expect(whole.version?.(0)).toBe(7);
});

test.each([
  ['step-17', 17],
  ['v17', 17],
  ['policy_17', 17],
  // Nothing says which of two is older.
  ['a1b2c3d', undefined],
  ['1.2', undefined],
  ['', undefined],
])('the version "%s" is %s', (version, expected) => {
  const row = only({
    completion_ids: IDS,
    rollout_log_probs: SAMPLED,
    old_log_probs: TRAINED,
    weight_version: version,
  });
  expect(row.version?.(0)).toBe(expected);
});

describe('a row that cannot be compared is one sentence:', () => {
  const row = { completion_ids: IDS, rollout_log_probs: SAMPLED, old_log_probs: TRAINED };
  test.each<[string, unknown, RegExp]>([
    ['no object', 5, /is no JSON object/],
    ['no ids', { ...row, completion_ids: undefined, completion: 'text' }, /no ids of the completion/],
    [
      'no side',
      { ...row, rollout_log_probs: undefined, old_log_probs: undefined },
      /no sampling log-probabilities.*--sampling/,
    ],
    [
      'ids below 0',
      { ...row, completion_ids: [11, -1, 13] },
      /token 1 has the id -1, which no vocabulary has/,
    ],
    ['NaN', { ...row, old_log_probs: [-1, Number.NaN, -1] }, /old_log_probs at completion token 1 is NaN/],
    ['null', { ...row, old_log_probs: [null, -1, -1] }, /token 0 is no number/],
    [
      '-inf',
      { ...row, old_log_probs: [Number.NEGATIVE_INFINITY, -1, -1] },
      /is -inf, of a token that was sampled/,
    ],
    [
      'probabilities above 0',
      { ...row, rollout_log_probs: [0.9, 0.3, 0.8] },
      /is 0.9; no log-probability is above 0/,
    ],
    ['another length', { ...row, old_log_probs: [-1, -1] }, /has 2 values for 3 completion tokens/],
    [
      'top-k lists',
      { ...row, rollout_log_probs: IDS.map(() => [-0.1, -2.5, -3.5]) },
      /top-k list without the sampled token 11/,
    ],
    ['top-k by id', { ...row, rollout_log_probs: IDS.map(() => ({ 5: { logprob: -1 } })) }, /top-k list/],
  ])('%s', (_, given, words) => {
    const complaint = complaintOf(given);
    expect(complaint).toMatch(words);
    expect(complaint).toMatch(/^a\.jsonl row 1/);
    expect(complaint).not.toContain('\n');
  });
});

test('bf16 rounding above 0 is a certain token', () => {
  const { trainer } = only({ completion_ids: [5], rollout_log_probs: [-0.1], old_log_probs: [0.0625] });
  expect([...(trainer ?? [])]).toEqual([0]);
});

describe('rows with one side', () => {
  const engine = only({ completion_ids: IDS, logprobs: SAMPLED });
  const trainer = only({ completion_ids: IDS, old_log_probs: TRAINED });
  const both = only({ completion_ids: IDS, logprobs: SAMPLED, old_log_probs: TRAINED });

  test('are left out where two are compared, each with what it lacks', () => {
    const { rows, complaints, missing } = sided([engine, both, trainer], false);
    expect([rows, missing]).toEqual([[both], undefined]);
    expect(complaints.map(({ complaint }) => complaint)).toEqual([
      expect.stringMatching(/^a\.jsonl row 1: no log-probabilities of the trainer.*--trainer/),
      expect.stringMatching(/^a\.jsonl row 1: no sampling log-probabilities.*--sampling/),
    ]);
  });

  test('are enough beside a model, unless other rows have both', () => {
    expect(sided([engine, engine], true)).toMatchObject({ missing: 'trainer', complaints: [] });
    expect(sided([trainer], true)).toMatchObject({ missing: 'engine', complaints: [] });
    expect(sided([trainer, engine, engine], true)).toMatchObject({
      missing: 'trainer',
      rows: [engine, engine],
      complaints: [{ complaint: expect.stringContaining('no sampling log-probabilities') }],
    });
    expect(sided([engine, both], true).missing).toBeUndefined();
  });

  test('a side that the user names and that is not there is no side', () => {
    const [read] = rolloutsOf({ completion_ids: IDS, logprobs: SAMPLED }, 'a', { trainer: 'mine' });
    expect(read).toMatchObject({ complaint: expect.stringContaining('no log-probabilities of the trainer') });
  });
});
