// Ten faults of a trainer: each turns exactly those entries red that it touches, whether or not the trainer declares it, and
// names the token.
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { pythonEnvironment } from '../../scripts/python.ts';
import { worldOf } from '../../src/check/run.ts';
import { goldenCases } from '../../src/golden/cases/index.ts';
import { tokenizerPrint } from '../../src/golden/fingerprint.ts';
import { readGolden } from '../../src/golden/folder.ts';
import { familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';
import { startTrainer } from '../../src/trainer/process.ts';
import { type Compared, compare } from './answering.ts';

const HERE = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const LLAMA = familyFolder('llama3');

/** What `golden check` finds on a faulty trainer, against the recorded example; asked once for each. */
function found(...fault: readonly string[]): Promise<Compared> {
  const key = fault.join(' ');
  const known = comparisons.get(key) ?? compareWith(fault);
  comparisons.set(key, known);
  return known;
}

/** Before the id of one of the wrong trainers that come along. */
const MUTANT = 'mutant';
const comparisons = new Map<string, Promise<Compared>>();

async function compareWith(fault: readonly string[]): Promise<Compared> {
  const read = readGolden(HERE('../../golden/example'));
  if ('problem' in read) throw new Error(read.problem);
  const program = fault[0] === MUTANT ? ['-m', 'mutants', fault[1] ?? ''] : [HERE('faulty.py'), ...fault];
  const started = await startTrainer({ command: ['python3', ...program], env: pythonEnvironment() });
  const loaded = loadTokenizer(LLAMA);
  if ('failure' in started) throw new Error(started.failure.message);
  if ('problem' in loaded) throw new Error(loaded.problem);
  const { trainer } = started;
  try {
    return await compare(read.files, {
      trainer,
      world: worldOf(trainer, loaded.tokenizer),
      tokenizer: tokenizerPrint(LLAMA),
      cases: goldenCases,
      wanted: () => true,
    });
  } finally {
    await trainer.stop();
  }
}

const CHATS = [
  'sft-answer',
  'sft-system',
  'sft-turns',
  'sft-white-space',
  'sft-spelled-specials',
  'sft-tool-turn',
  'sft-parallel-tools',
  'rl-prompt',
  'rl-long-prompt',
  'rl-tool-prompt',
  'rl-parallel-tools',
  'rl-thoughts',
];
const ROLLOUTS = ['two-prompts', 'one-prompt-twice', 'several-stops', 'ids-that-text-would-merge'].map(
  (name) => `rollout/${name}`,
);
const BATCHES = ['uneven', 'one', 'padded-on-the-left', 'padded-on-the-right', 'pad-is-a-stop'].map(
  (name) => `sft_batch/${name}`,
);
const PAIRS = ['uneven', 'one-begins-the-other', 'empty-answer'].map((name) => `preference_batch/${name}`);
const all = (stage: string): string[] => CHATS.map((name) => `${stage}/${name}`);

/** Fault, what is red, and of one of these entries what the sentence says. */
const FAULTS: readonly (readonly [fault: string, red: readonly string[], id: string, sentence: string])[] = [
  [
    'template_newline',
    [...all('render'), ...all('tokenize'), ...BATCHES, ...PAIRS, ...ROLLOUTS],
    'tokenize/rl-prompt',
    "The ids changed (input_ids), at 2 tokens of 1 row. First: token 4 '⏎' (id 198) of row 0 was '⏎⏎' (id 303).",
  ],
  [
    'bos',
    [...all('tokenize'), ...ROLLOUTS],
    'tokenize/sft-answer',
    "The ids changed (input_ids): token 1 '<|begin_of_text|>' (id 856) of row 0 is new.",
  ],
  [
    'mask_shift',
    ['stops-and-limits', 'several-stops', 'pad-is-a-stop', 'one-row', 'tokens-behind-the-stop'].map(
      (name) => `mask/${name}`,
    ),
    'mask/one-row',
    "The mask changed (completion_mask): token 1 '␠answer' (id 311) of row 0 was 1, and is 0.",
  ],
  [
    'pad_id',
    ['collate/unequal-rows', 'collate/pad-is-a-stop', 'collate/token-zero'],
    'collate/unequal-rows',
    "The ids changed (input_ids), at 5 tokens of 2 rows. First: token 3 '!' (id 0) of row 1 was '<|eot_id|>' (id 863).",
  ],
  [
    'kl_kind',
    ['kl/completions', 'kl/gap-of-a-tool'],
    'kl/completions',
    'The numbers changed (kl, mean_kl), at 4 values of 2 rows and 1 other place. First: kl of column 2 of row 0 was 0.0288008, and is 0.25.',
  ],
  [
    'ddof',
    [
      'two-groups',
      'equal-rewards',
      'right-or-wrong',
      'small-differences',
      'one-prompt-twice',
      'unequal-lengths',
    ].map((name) => `advantages/${name}`),
    'advantages/two-groups',
    'The numbers changed (advantages), at 4 places. First: advantages[0] was -0.999733, and is -1.22435.',
  ],
  [
    'truncation_side',
    ['truncate/too-long', 'truncate/one-too-long', 'truncate/loses-its-answer'],
    'truncate/too-long',
    "The ids and positions changed (input_ids, position_ids), at 6 tokens of 1 row. First: token 0 '␠the' (id 265) of row 0 is gone.",
  ],
  [
    'packing_positions',
    ['two-rows', 'one-row', 'every-token-trained', 'pad-is-a-stop'].map((name) => `pack/${name}`),
    'pack/two-rows',
    "The positions changed (position_ids), at 3 tokens of 1 row. First: token 4 '␠can' (id 401) of row 1 was 0, and is 4.",
  ],
  [
    'temperature',
    ['logprobs/temperature-0.5', 'logprobs/temperature-2'],
    'logprobs/temperature-0.5',
    'The numbers changed (logprobs), at 6 tokens of 2 rows. First: token 2 (id 2) of row 0 was -2.91659, and is -2.21468.',
  ],
  [
    'stop_set',
    [
      'extract/padded-left-several-stops',
      'extract/padded-left-with-a-stop',
      'extract/padded-right-several-stops',
      'extract/padded-right-with-a-stop',
      'mask/several-stops',
      'mask/pad-is-a-stop',
    ],
    'extract/padded-left-several-stops',
    "The ids changed (completion_ids): token 3 '<|eot_id|>' (id 863) of row 0 is new.",
  ],
];

/** Faults that show only where padding ends a row, rows are in no order, ids are not those of their text, and the like. */
const SEEN_BY_ONE: readonly (readonly [mutant: string, red: readonly string[]])[] = [
  ['EOS-01-collate-labels-by-id', ['collate/pad-is-a-stop']],
  ['PCK-07-unpacked-by-the-pad-id', ['pack/pad-is-a-stop']],
  ['PAD-08-scores-sorted-by-length', ['reward_model/three-rows']],
  ['MT-01-rollout-retokenises', ['rollout/ids-that-text-would-merge']],
  ['EOS-12-turns-flag-the-last-cut-only', ['trajectory/first-turn-cut']],
  ['ADV-08-advantages-broadcast-over-columns', ['loss/as-many-rows-as-columns']],
  ['loss-far-ratio-dropped', ['loss/far-ratios']],
  ['PCK-03-packed-first-tokens-are-trained', ['pack/every-token-trained']],
  ['TPL-03-history-loses-its-thoughts', ['tokenize/rl-thoughts']],
];

describe('the fault', () => {
  test.each(FAULTS)('%s turns red what it touches, and says where', async (fault, red, id, sentence) => {
    const comparison = await found(fault);
    expect(comparison.red).toEqual(red);
    expect(comparison.sentence(id)).toBe(sentence);
  });

  test.each(['kl_kind', 'ddof', 'truncation_side'])(
    '%s turns one entry more red where the trainer declares it',
    async (fault) => {
      const touched = FAULTS.find(([name]) => name === fault)?.[1] ?? [];
      expect((await found(fault, 'honest')).red).toEqual(['declared/semantics', ...touched]);
    },
  );

  test.each(FAULTS.filter(([fault]) => fault !== 'ddof'))(
    '%s has a strip that marks the changed tokens',
    async (fault, _, id) => {
      const { results } = await found(fault);
      const strip = results.find((each) => each.id === id)?.failure?.finding?.strips?.[0];
      const [first = -1] = strip?.marks ?? [];
      const tracks = strip?.tracks ?? [];
      const [before, after] = [tracks[0]?.cells[first], tracks[1]?.cells[first]];
      expect(before).toBeDefined();
      expect(before).not.toBe(after);
    },
  );

  test.each(SEEN_BY_ONE)('%s is seen by the case that is there for it', async (mutant, red) => {
    expect((await found(MUTANT, mutant)).red).toEqual(red);
  });

  test('of none leaves everything green, twice', async () => {
    expect((await compareWith([])).red).toEqual([]);
    expect((await compareWith([])).red).toEqual([]);
  });
});
