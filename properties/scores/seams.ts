// Where the prompt ends and the completion begins is a matter of bookkeeping: a causal model reads one row of tokens, and
// says the same of a token whether those before it are called prompt or completion.
import {
  type Args,
  type Batch,
  bandOf,
  batch,
  batchLabels,
  type Finding,
  MODEL_TERMS,
  many,
  meantOr,
  modelTokens,
  notMeant,
  type Property,
  type Ragged,
  type Subject,
  show,
  type World,
} from '../../src/index.ts';

/** How many tokens of each completion are moved to its prompt: half, so that one at least stays. */
const movedOf = ({ completions }: Batch): number[] => completions.map((ids) => Math.floor(ids.length / 2));

type Rows = Pick<Args<'score'>, 'prompt_ids' | 'completion_ids'>;
const args = (prompts: Ragged, completions: Ragged): Rows => ({
  prompt_ids: prompts,
  completion_ids: completions,
});
const before = ({ prompts, completions }: Batch) => args(prompts, completions);
const after = ({ prompts, completions }: Batch, moved: readonly number[]) =>
  args(
    prompts.map((ids, row) => [...ids, ...(completions[row] ?? []).slice(0, moved[row])]),
    completions.map((ids, row) => ids.slice(moved[row])),
  );

const only = (drawn: Batch, row: number): Batch => ({
  ...drawn,
  prompts: drawn.prompts.slice(row, row + 1),
  completions: drawn.completions.slice(row, row + 1),
});

const base = {
  level: 'must',
  needs: [
    modelTokens,
    // A prefix model reads its prompt in both directions, and trains well.
    notMeant('prefix_attention'),
  ],
  given: ({ hello }: World) =>
    batch({ tokens: hello.tokens }).filter((drawn) => movedOf(drawn).some((count) => count > 0)),
  labels: batchLabels,
  coverage: { 'unequal prompts': 0.2, 'unequal completions': 0.2 },
} as const;

/** Of one kind of numbers, a list per completion. */
type Ask = (rows: Rows) => Promise<Ragged>;

/** One list of numbers a completion, of which the first `moved` were asked before the seam was moved behind them. */
async function differ(subject: Subject, what: string, drawn: Batch, ask: Ask): Promise<Finding | undefined> {
  const moved = movedOf(drawn);
  const whole = await ask(before(drawn));
  const rest = await ask(after(drawn, moved));
  const band = bandOf(subject, MODEL_TERMS);
  for (const [row, values] of whole.entries()) {
    const from = moved[row] ?? 0;
    const token = values.findIndex((value, at) => at >= from && !band.close(rest[row]?.[at - from], value));
    if (token < 0) continue;
    // A row that is another beside other rows shows nothing of its seam, and no model with a prefix does that.
    const [alone = []] = await ask(before(only(drawn, row)));
    if (!band.close(alone[token], values[token]))
      return {
        kind: 'batch mates',
        sentence: `The ${what} of completion token ${token} of row ${row} is ${show(values[token])} in this batch, and ${show(alone[token])} when its row is scored alone.`,
        note: band.reason,
      };
    const [cut = []] = await ask(after(only(drawn, row), [from]));
    if (band.close(cut[token - from], values[token]))
      return {
        kind: 'batch mates',
        sentence: `The ${what} of completion token ${token} of row ${row} is ${show(rest[row]?.[token - from])} in this batch if ${many(from, 'token')} of it end the prompt, and ${show(cut[token - from])} when its row is scored alone.`,
        note: band.reason,
      };
    return {
      kind: 'seam',
      sentence: `The ${what} of completion token ${token} of row ${row} is ${show(values[token])}, and ${show(rest[row]?.[token - from])} when ${many(from, 'token')} at the beginning of its completion are handed over as the end of its prompt.`,
      note: band.reason,
      ...meantOr(subject, 'prefix_attention'),
    };
  }
  return undefined;
}

export const seamProperties: readonly Property<Batch>[] = [
  {
    ...base,
    id: 'score/the-seam-is-no-token',
    title: 'Where the prompt ends and the completion begins makes no difference to the score of a token',
    stage: 'score',
    ops: ['score'],
    why: 'Positions that restart with the completion, or wrong attention at the seam, rate every token after a row that the sampler never saw.',
    catches: ['PAD-04', 'LP-16', 'PAD-05'],
    async check(subject, drawn) {
      const ask: Ask = async (rows) => (await subject.ask('score', rows)).logprobs;
      return await differ(subject, 'log-probability', drawn, ask);
    },
  },
  {
    ...base,
    id: 'values/the-seam-is-no-token',
    title: 'Where the prompt ends and the completion begins makes no difference to the value of a token',
    stage: 'values',
    ops: ['values'],
    why: 'Values that are read from one column on, or computed with positions of their own, are a baseline for other states.',
    catches: ['VAL-03', 'PAD-04'],
    async check(subject, drawn) {
      const ask: Ask = async (rows) => (await subject.ask('values', { ...rows, temperature: 1 })).values;
      return await differ(subject, 'value', drawn, ask);
    },
  },
  {
    ...base,
    id: 'values/score-has-no-seam',
    // Reward models with a template or a separator of their own see the seam, and rate well.
    level: 'may',
    title:
      'Where the prompt ends and the completion begins makes no difference to the score of the reward model',
    stage: 'values',
    ops: ['reward_model'],
    why: 'A reward model that is handed the two parts apart, cut or counted apart, rates another row than the one that was sampled.',
    catches: ['VAL-05', 'PAD-04'],
    async check(subject, drawn) {
      const moved = movedOf(drawn);
      const whole = await subject.ask('reward_model', before(drawn));
      const rest = await subject.ask('reward_model', after(drawn, moved));
      const band = bandOf(subject, MODEL_TERMS);
      const row = whole.scores.findIndex((score, at) => !band.close(rest.scores[at], score));
      return row < 0
        ? undefined
        : {
            kind: 'seam',
            sentence: `The score of row ${row} is ${show(whole.scores[row])}, and ${show(rest.scores[row])} when ${many(moved[row] ?? 0, 'token')} at the beginning of its completion are handed over as the end of its prompt.`,
            note: band.reason,
          };
    },
  },
];
