// One step of sampling: the distribution that the next token is drawn from. Temperature, top-k, top-p and stop tokens
// that are held back, in any order that public samplers have.
import {
  type Args,
  bandOf,
  completes,
  discard,
  type Finding,
  type Ids,
  isHalf,
  logSoftmax,
  type Matrix,
  many,
  numberFinding,
  type Processor,
  type Property,
  relations,
  SAMPLING_VARIANTS,
  type SamplingSettings,
  type SamplingStep,
  type SamplingVariant,
  type Subject,
  samplingClearance,
  samplingLabels,
  samplingLogprobs,
  samplingStep,
  show,
  stopsOf,
  type World,
} from '../../src/index.ts';

export const processors = (world: World): readonly Processor[] =>
  world.hello.ops.sampling?.processors ?? ['temperature'];

export const base = {
  stage: 'sampling',
  level: 'must',
  ops: ['sampling'],
  given: (world: World) =>
    samplingStep(processors(world), { cold: !isHalf(world), ...stopsOf(world, 'sampling') }),
  labels: samplingLabels,
} as const;

/** Log-probabilities below this are of tokens that cannot be drawn: some samplers fill with a large negative number. */
export const NEVER = -100;
/** Below this a probability has few digits left in float32, or none: what is held as one may be anything down there. */
const FAINT = -80;
export const possible = (logprob: number | undefined): boolean => logprob !== undefined && logprob > NEVER;

/** What is nearer to a truncation's edge than the trainer's precision may fall on either side. */
const clearance = (world: World): number =>
  world.hello.dtype === 'bfloat16' || world.hello.dtype === 'float16' ? 0.02 : 1e-3;

/** Ids that cannot be drawn in this row: stop tokens that wait, and the last ids of banned sequences. */
export function heldBackIn({ rows, stops, minNewTokens, banned }: SamplingStep, row: number): Ids {
  const generated = rows[row]?.generated ?? [];
  return [
    ...(generated.length < minNewTokens ? stops : []),
    ...banned.filter((each) => completes(each, generated)).flatMap((each) => each.slice(-1)),
  ];
}

const settingsOf = (drawn: SamplingStep, row: number): SamplingSettings => ({
  temperature: drawn.temperature,
  topK: drawn.topK,
  topP: drawn.topP,
  never: heldBackIn(drawn, row),
});

const distributions = (drawn: SamplingStep, variant: SamplingVariant): number[][] =>
  drawn.rows.map(({ logits }, row) => samplingLogprobs(logits, settingsOf(drawn, row), variant));

/** The request. What was drawn can be drawn by every sampler; a case on an edge says nothing and is set aside. */
export function argsOf(drawn: SamplingStep, world: World): Args<'sampling'> {
  const sampled = drawn.rows.map(({ logits, draw }, row) => {
    const settings = settingsOf(drawn, row);
    for (const variant of SAMPLING_VARIANTS)
      if (samplingClearance(logits, settings, variant) < clearance(world))
        return discard('a token is on the edge of what is kept', 'trainer');
    const each = SAMPLING_VARIANTS.map((variant) => samplingLogprobs(logits, settings, variant));
    const drawable = logits
      .map((_, id) => id)
      .filter((id) => each.every((logprobs) => possible(logprobs[id])))
      .sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0));
    return drawable[draw % drawable.length] ?? 0;
  });
  return {
    logits: drawn.rows.map(({ logits }) => logits),
    completion_ids: drawn.rows.map(({ generated }) => generated),
    sampled_ids: sampled,
    eos_token_ids: drawn.stops,
    temperature: drawn.temperature,
    top_k: drawn.topK,
    top_p: drawn.topP,
    min_new_tokens: drawn.minNewTokens,
    ...(processors(world).includes('banned_sequences') ? { banned_sequences: drawn.banned } : {}),
  };
}

const settingsText = (drawn: SamplingStep): string =>
  `temperature ${drawn.temperature}, top-k ${drawn.topK}, top-p ${drawn.topP}, min_new_tokens ${drawn.minNewTokens}${drawn.banned.length > 0 ? `, banned_sequences ${JSON.stringify(drawn.banned)}` : ''}`;

/** Ids of a row whose log-probability is not what is expected, impossible ones being all alike. */
function wrongIds(subject: Subject, observed: Ids, expected: Ids): number[] {
  const band = bandOf(subject, expected.length);
  return expected.flatMap((value, id) => {
    if (value > Number.NEGATIVE_INFINITY && value < FAINT)
      return (observed[id] ?? NaN) < FAINT + 1 ? [] : [id];
    const fits = possible(value)
      ? possible(observed[id]) && band.close(observed[id], value)
      : observed[id] !== undefined && !Number.isNaN(observed[id]) && !possible(observed[id]);
    return fits ? [] : [id];
  });
}

function difference(subject: Subject, observed: Matrix, expected: Matrix, says: string): Finding | undefined {
  for (const [row, values] of expected.entries()) {
    const wrong = wrongIds(subject, observed[row] ?? [], values);
    const [first] = wrong;
    if (first === undefined) continue;
    const [got, want] = [observed[row]?.[first], values[first]];
    const kind = possible(got) === possible(want) ? 'value' : possible(got) ? 'kept' : 'lost';
    const words = {
      value: `is ${show(got)}; ${says} gives ${show(want)}`,
      kept: `is ${show(got)}, and ${says} leaves it out`,
      lost: `is ${show(got)}, so that it cannot be drawn; ${says} gives ${show(want)}`,
    }[kind];
    return numberFinding({
      kind,
      sentence: `The log-probability of id ${first} in row ${row} ${words}.`,
      band: bandOf(subject, values.length),
      pairs: wrong.map((id) => ({
        where: `row ${row}, id ${id}`,
        expected: values[id],
        observed: observed[row]?.[id],
      })),
    });
  }
  return undefined;
}

const equals: Property<SamplingStep> = {
  ...base,
  id: 'sampling/equals-the-definition',
  title:
    'The next token is drawn from softmax(logits / temperature), cut to the top k and to the nucleus of mass p',
  why: 'A setting that is not applied, applied to a copy, or applied upside down samples another policy than the one that is trained.',
  catches: ['PEN-04', 'LP-07', 'LP-17'],
  coverage: { 'several rows': 0.25 },
  async check(subject, drawn) {
    const args = argsOf(drawn, subject);
    const { logprobs } = await subject.ask('sampling', args);
    const tries = SAMPLING_VARIANTS.map((variant) => distributions(drawn, variant));
    const amiss = (expected: Matrix): number =>
      expected.reduce((sum, row, at) => sum + wrongIds(subject, logprobs[at] ?? [], row).length, 0);
    if (tries.some((expected) => amiss(expected) === 0)) return undefined;
    const [closest] = tries.toSorted((a, b) => amiss(a) - amiss(b));
    return closest === undefined ? undefined : difference(subject, logprobs, closest, settingsText(drawn));
  },
};

const identity: Property<SamplingStep> = {
  ...base,
  id: 'sampling/neutral-settings-change-nothing',
  title:
    'At temperature 1 and with everything else off, what is drawn from and what is recorded is log_softmax of the logits',
  why: 'A sampler that cannot be turned off is off policy in every run.',
  catches: ['PEN-04', 'LP-08'],
  given: (world) => samplingStep([], stopsOf(world, 'sampling')),
  coverage: { 'several rows': 0.25 },
  async check(subject, drawn) {
    const args = argsOf(drawn, subject);
    const answer = await subject.ask('sampling', args);
    const expected = drawn.rows.map(({ logits }) => logSoftmax(logits));
    const found = difference(subject, answer.logprobs, expected, 'log_softmax of its logits');
    if (found !== undefined) return found;
    const band = bandOf(subject, expected[0]?.length);
    const row = (answer.sampled_logprobs ?? []).findIndex(
      (value, at) => !band.close(value, expected[at]?.[args.sampled_ids[at] ?? -1]),
    );
    return row < 0
      ? undefined
      : {
          kind: 'recorded',
          sentence: `The recorded log-probability of id ${args.sampled_ids[row]} in row ${row} is ${show(answer.sampled_logprobs?.[row])}; all settings are neutral, and log_softmax of its logits gives ${show(expected[row]?.[args.sampled_ids[row] ?? -1])}.`,
          note: band.reason,
        };
  },
};

const distribution: Property<SamplingStep> = {
  ...base,
  id: 'sampling/is-a-distribution',
  title: 'The probabilities of what can be drawn add up to 1',
  why: 'Log-probabilities of a truncated row that was not normalised again are not those that tokens were drawn with.',
  catches: ['LP-07', 'LP-11'],
  async check(subject, drawn): Promise<Finding | undefined> {
    const { logprobs } = await subject.ask('sampling', argsOf(drawn, subject));
    const band = bandOf(subject, logprobs[0]?.length);
    for (const [row, values] of logprobs.entries()) {
      const sum = values.reduce((total, value) => total + Math.exp(value), 0);
      // An error of e in a logarithm is one of e times the probability.
      if (!(Math.abs(sum - 1) <= values.length * band.allowed(1)))
        return {
          kind: 'mass',
          sentence: `The probabilities of row ${row} add up to ${show(sum)}, with ${many(values.filter(possible).length, 'token')} that can be drawn (${settingsText(drawn)}).`,
          note: band.reason,
        };
    }
    return undefined;
  },
};

const stops: Property<SamplingStep> = {
  ...base,
  id: 'sampling/stops-wait-for-min-new-tokens',
  title:
    'No stop token, whichever, can be drawn before min_new_tokens have been generated; afterwards each of them can',
  why: 'A sampler that holds back one of several stop tokens, or counts the prompt, draws answers of no length at all.',
  catches: ['LP-17', 'EOS-05'],
  needs: [
    (world) =>
      processors(world).includes('min_new_tokens')
        ? undefined
        : 'op `sampling` does not offer min_new_tokens',
  ],
  given: (world) => samplingStep(['min_new_tokens'], stopsOf(world, 'sampling')),
  coverage: (world) => ({
    'stops held back': 0.2,
    ...(stopsOf(world, 'sampling').oneStop ? {} : { 'several stop ids': 0.15 }),
  }),
  async check(subject, drawn) {
    const { logprobs } = await subject.ask('sampling', argsOf(drawn, subject));
    for (const [row, { generated }] of drawn.rows.entries()) {
      const held = generated.length < drawn.minNewTokens;
      const wrong = drawn.stops.find((id) => possible(logprobs[row]?.[id]) === held);
      if (wrong === undefined) continue;
      const sofar = `${many(generated.length, 'token')} ${generated.length === 1 ? 'has' : 'have'} been generated and min_new_tokens is ${drawn.minNewTokens}`;
      return {
        kind: held ? 'early' : 'late',
        sentence: `Stop token ${wrong} ${held ? 'can' : 'cannot'} be drawn in row ${row} (log-probability ${show(logprobs[row]?.[wrong])}), where ${sofar}.`,
      };
    }
    return undefined;
  },
};

const bans: Property<SamplingStep> = {
  ...base,
  id: 'sampling/banned-sequences-are-never-completed',
  title:
    'The last token of a banned sequence cannot be drawn where the others have just been generated in their order, and can be everywhere else',
  why: 'A ban that looks at the wrong tokens lets the sequence through, or takes an ordinary token out of every answer.',
  catches: ['PEN-05'],
  needs: [
    (world) =>
      processors(world).includes('banned_sequences')
        ? undefined
        : 'op `sampling` does not offer banned_sequences',
  ],
  given: (world) => samplingStep(['banned_sequences'], stopsOf(world, 'sampling')),
  coverage: { 'banned sequences': 0.5, 'all but the last of a banned sequence': 0.15 },
  async check(subject, drawn) {
    const { logprobs } = await subject.ask('sampling', argsOf(drawn, subject));
    for (const [row, { generated }] of drawn.rows.entries()) {
      const never = heldBackIn(drawn, row);
      const wrong = (logprobs[row] ?? []).findIndex((value, id) => possible(value) === never.includes(id));
      if (wrong < 0) continue;
      return {
        kind: never.includes(wrong) ? 'completed' : 'taken',
        sentence: `Id ${wrong} ${never.includes(wrong) ? 'can' : 'cannot'} be drawn in row ${row} (log-probability ${show(logprobs[row]?.[wrong])}), where ${JSON.stringify(generated)} has been generated and banned_sequences is ${JSON.stringify(drawn.banned)}.`,
      };
    }
    return undefined;
  },
};

const general = relations({
  op: 'sampling',
  stage: 'sampling',
  noun: 'The distribution that a row is drawn from',
  given: (world) => samplingStep(processors(world), { minRows: 2, ...stopsOf(world, 'sampling') }),
  args: argsOf,
  labels: samplingLabels,
  observe: async (subject, args) => {
    const { logprobs, ...answer } = await subject.ask('sampling', args);
    // What cannot be drawn is minus infinity in one request and may be any large negative number in the next.
    return {
      fields: {
        ...answer,
        logprobs: logprobs.map((row) => row.map((value) => (value < NEVER ? NEVER : value))),
      },
    };
  },
  allBut: [],
  relations: { 'batch-mates': { catches: ['PEN-04'] } },
});

export const samplingProperties: readonly Property<SamplingStep>[] = [
  equals,
  identity,
  distribution,
  stops,
  bans,
  ...general,
];
