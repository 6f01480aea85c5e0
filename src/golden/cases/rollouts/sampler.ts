// Golden cases of the sampler: its settings one by one and together, and the penalties on what was said before.
import type { Args, Hello } from '../../../protocol/message.ts';
import type { Matrix } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';

/** No two logits of a row are equal: which of them a truncation keeps is nobody's rule. What is likely differs by row. */
const NEXT: Matrix = [
  [0.5, 2, -1, 1.25, 1],
  [0.5, -1.5, -1, -0.75, 0.75],
];

type Settings = Pick<
  Args<'sampling'>,
  'temperature' | 'top_k' | 'top_p' | 'min_new_tokens' | 'banned_sequences'
>;
const NEUTRAL: Settings = { temperature: 1, top_k: 0, top_p: 1, min_new_tokens: 0 };
const SAMPLERS: Readonly<Record<string, Partial<Settings>>> = {
  'nothing-on': {},
  temperature: { temperature: 0.5 },
  'top-k': { top_k: 2 },
  'top-p': { top_p: 0.75 },
  'stops-held-back': { min_new_tokens: 2 },
  'banned-sequences': {
    banned_sequences: [
      [2, 3],
      [0, 3, 2],
    ],
  },
  'temperature-top-k-top-p': { temperature: 2, top_k: 3, top_p: 0.75 },
};

/** As many as it takes. */
const stopsFor = ({ ops }: Hello): number[] => (ops.sampling?.eos_token_ids === 1 ? [3] : [3, 0]);

const samplers: readonly GoldenCase[] = Object.entries(SAMPLERS).map(([name, on]) =>
  goldenCase(`sampling/${name}`, 'sampling', ({ hello }) => {
    const has: readonly string[] = hello.ops.sampling?.processors ?? ['temperature'];
    const lacks = Object.keys(on).find((each) => !has.includes(each));
    if (lacks !== undefined) return `op \`sampling\` has no \`${lacks}\``;
    return {
      logits: NEXT,
      completion_ids: [[2], [0]],
      // A token that every setting leaves.
      sampled_ids: [1, 4],
      eos_token_ids: stopsFor(hello),
      ...NEUTRAL,
      ...on,
    };
  }),
);

const PENALTIES = {
  presence: { presence_penalty: 0.5 },
  frequency: { frequency_penalty: 0.25 },
  repetition: { repetition_penalty: 1.25 },
} as const;

function penaltyArgs(on: Partial<Args<'penalties'>>): Args<'penalties'> {
  return {
    // Left padding is id 0, which the first row has generated as well.
    input_ids: [
      [0, 1, 2, 0, 0, 3, 1],
      [1, 1, 4, 2, 2, 2, 2],
    ],
    attention_mask: [
      [0, 1, 1, 1, 1, 1, 1],
      [1, 1, 1, 1, 1, 1, 1],
    ],
    prompt_width: 3,
    prompt_ids: [
      [1, 2],
      [1, 1, 4],
    ],
    completion_ids: [
      [0, 0, 3, 1],
      [2, 2, 2, 2],
    ],
    logits: NEXT,
    presence_penalty: 0,
    frequency_penalty: 0,
    repetition_penalty: 1,
    ...on,
  };
}

const penalties: readonly GoldenCase[] = [
  goldenCase('penalties/neutral', 'penalties', () => penaltyArgs({})),
  ...(Object.keys(PENALTIES) as (keyof typeof PENALTIES)[]).map((kind) =>
    goldenCase(`penalties/${kind}`, 'penalties', ({ hello }) => {
      const has = hello.ops.penalties?.kinds ?? ['presence', 'frequency'];
      return has.includes(kind) ? penaltyArgs(PENALTIES[kind]) : `op \`penalties\` has no ${kind} penalty`;
    }),
  ),
];

/** The sampled token is not the likeliest one of its row. */
const unlikely: readonly GoldenCase[] = [
  goldenCase('sampling/second-likeliest', 'sampling', ({ hello }) => ({
    logits: NEXT,
    completion_ids: [[2], [0]],
    sampled_ids: [3, 0],
    eos_token_ids: stopsFor(hello),
    ...NEUTRAL,
  })),
];

export const samplerCases: readonly GoldenCase[] = [...samplers, ...unlikely, ...penalties];
