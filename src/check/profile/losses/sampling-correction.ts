// What is made of the gap between an inference engine and the trainer: which weight a token has that the engine sampled from
// another policy. One token far on either side shows whether its ratio is held, followed or left out, and solves for the caps;
// rows of several tokens show whether the ratio is one a token or one a row.
import fc from 'fast-check';
import {
  type Correction,
  correctionFactors,
  decisive,
  denominatorsOfKept,
} from '../../../reference/index.ts';
import { bandOf, type Pair } from '../../numbers.ts';
import type { Subject } from '../../property.ts';
import { layTracks } from '../../rows/tracks.ts';
import { discard } from '../../subject.ts';
import { draw, type Misfit, misfitOf, type Probe, settled, type Variant } from '../probe.ts';

/** Log-ratios trainer - engine of the tokens of one row. */
type Gaps = readonly number[];

interface CorrectionWay extends Variant {
  readonly correction: Correction;
}

export const samplingCorrection: Probe<readonly Gaps[]> = {
  id: 'sampling_correction',
  items: [
    'sampling_correction',
    'sampling_correction_level',
    'sampling_correction_low',
    'sampling_correction_high',
  ],
  ops: ['loss'],
  mayBeOwn: true,
  lack: ({ hello }) =>
    hello.ops.loss?.sampling_logprobs === true ? undefined : 'op `loss` does not offer sampling_logprobs',
  variants: async (subject) => {
    const { sampling_correction_low: low, sampling_correction_high: high } = subject.semantics;
    const below = await sideOf(subject, -1, low);
    const above = await sideOf(subject, 1, high);
    const none = { kind: 'none', level: 'token', low: 0, high: NO_CAP } as const;
    return [
      { name: 'no correction for the engine', items: { sampling_correction: 'none' }, correction: none },
      ...KINDS.filter((kind) => does(kind, below[kind], above[kind])).flatMap((kind) =>
        LEVELS.map((level) => wayOf(kind, level, below[kind], above[kind])),
      ),
    ] satisfies CorrectionWay[];
  },
  cases: (_, drawn) => [
    ...ROWS.map((row) => [row]),
    ...BATCHES,
    ...draw(fc.array(drawnRow(), { minLength: 1, maxLength: 3 }), drawn),
  ],
  async fits(subject, gaps, variants) {
    const observed = await factorsOf(subject, gaps);
    // A weight is one for good answers and bad ones. A clip of the ratio to the engine, as in OpenRLHF's GSPO, is not: it leaves
    // out one side of the good and the other side of the bad.
    const ofBad = await factorsOf(subject, gaps, -1);
    const tokens = gaps.flat();
    // A loss alone is the sum of its tokens, and only in a row by itself do they weigh the same.
    if (observed.length !== tokens.length && gaps.length > 1)
      return discard('the loss of several rows does not tell what a token weighs');
    const band = bandOf(subject, tokens.length);
    const rows = gaps.map((row) => `[${row.join(', ')}]`).join(' ');
    return (variants as readonly CorrectionWay[]).map(({ correction }) => {
      if (gaps.some((row) => nearCap(row, correction))) return undefined;
      const factors = gaps.map((row) => correctionFactors(row, correction));
      const misfits = denominatorsOfKept(factors).map((share) => {
        const expected = factors.flatMap((row, b) => row.map((factor) => factor * share(b)));
        const pairsOf = (factors: readonly number[], which: string): Pair[] =>
          factors.length === tokens.length
            ? expected.map((factor, at) => ({
                where: `the weight of token ${at}${which} where trainer and engine are ${rows} nats apart, in units of that without a gap`,
                expected: factor,
                observed: factors[at],
              }))
            : [
                {
                  where: `the loss${which} where trainer and engine are ${rows} nats apart, in units of that without a gap`,
                  expected: expected.reduce((sum, factor) => sum + factor, 0) / tokens.length,
                  observed: factors[0],
                },
              ];
        const bad = ofBad.some(Number.isNaN) ? [] : pairsOf(ofBad, ' of a bad answer');
        return misfitOf([...pairsOf(observed, ''), ...bad], band.allowed);
      });
      return misfits.includes(undefined) ? undefined : least(misfits);
    });
  },
};

const KINDS = ['truncated', 'masked', 'filtered'] as const;
const LEVELS = ['token', 'sequence', 'sequence-mean'] as const;

const least = (misfits: readonly (Misfit | undefined)[]): Misfit | undefined =>
  [...misfits].sort((a, b) => (a?.off ?? 0) - (b?.off ?? 0))[0];

/** Not where a mask leaves nothing out, and a ratio that is held to one number is no ratio. */
const does = (kind: (typeof KINDS)[number], low: number, high: number): boolean =>
  kind === 'truncated' ? low < high : low > 0 || high < NO_CAP;

/** The caps of one side, were the correction of each kind. */
type Caps = Readonly<Record<(typeof KINDS)[number], number>>;

/** One token, far above or below the engine: where its weight ends. */
async function sideOf(subject: Subject, sign: 1 | -1, declared: number | null | undefined): Promise<Caps> {
  const none = sign === 1 ? NO_CAP : 0;
  const weightAt = async (gap: number): Promise<number> => (await factorsOf(subject, [[gap]]))[0] ?? 0;
  const far = await weightAt(sign * FAR);
  const isLeftOut = (weight: number): boolean => Math.abs(weight) < LEFT_OUT;
  if (!isLeftOut(far)) {
    const open = !(far > 0) || Math.abs(Math.log(far) - sign * FAR) < OPEN;
    const short = settled(far, Math.max(bandOf(subject).relative, SOLVED), declared);
    // A cap that nobody wrote as a short decimal is what it was seen to be.
    const cap = open ? none : bandOf(subject).close(far, short) ? short : far;
    return { truncated: cap, masked: none, filtered: none };
  }
  let [kept, out] = [0, FAR];
  for (let step = 0; step < STEPS; step++) {
    const middle = (kept + out) / 2;
    if (isLeftOut(await weightAt(sign * middle))) out = middle;
    else kept = middle;
  }
  const edge = settled(Math.exp((sign * (kept + out)) / 2), EDGE, declared);
  return { truncated: none, masked: edge, filtered: edge };
}

/**
 * The weight of each token in units of that without a gap; of the loss alone where no weights are answered. NaN where bad answers,
 * those with a negative advantage, do not count at all.
 */
async function factorsOf(
  subject: Subject,
  gaps: readonly Gaps[],
  advantage: 1 | -1 = 1,
): Promise<readonly number[]> {
  const beside = await advantageEffect(subject, gaps, advantage);
  const plain = await advantageEffect(
    subject,
    gaps.map((row) => row.map(() => 0)),
    advantage,
  );
  return beside.map((value, at) => {
    const unit = plain[at] ?? 0;
    if (unit !== 0) return value / unit;
    return advantage === -1 ? Number.NaN : discard('a token with an advantage does not change the loss');
  });
}

/** What an advantage of 1 or -1, on policy, makes of the weights of all tokens, or of the loss. */
async function advantageEffect(
  subject: Subject,
  gaps: readonly Gaps[],
  judgedAt: 1 | -1,
): Promise<readonly number[]> {
  const at = async (advantage: number): Promise<readonly number[]> => {
    const token = { logprob: LOGPROB, old: LOGPROB, ref: LOGPROB };
    const rows = gaps.map((row) => ({ prompt: PROMPT, tokens: row.map(() => token), advantage, part: 0 }));
    const { roles: _, ids: __, tokens: ___, ...args } = layTracks({ rows }, { whole: true });
    const { loss, loss_weights: weights } = await subject.ask('loss', {
      ...args,
      sampling_logprobs: args.old_logprobs.map((values, b) =>
        values.map((value, column) => value - (gaps[b]?.[column - PROMPT] ?? 0)),
      ),
    });
    return weights === undefined
      ? [loss]
      : gaps.flatMap((row, b) => row.map((_gap, token) => weights[b]?.[PROMPT + token] ?? Number.NaN));
  };
  const [judged, idle] = [await at(judgedAt), await at(0)];
  return judged.map((value, token) => value - (idle[token] ?? 0));
}

/** Whether the ratio of a row, or of one of its tokens, is so near a cap that rounding decides. */
const nearCap = (gaps: Gaps, { kind, level, low, high }: Correction): boolean =>
  kind !== 'none' &&
  kind !== 'truncated' &&
  decisive(gaps, level).some((gap) => [low, high].some((cap) => Math.abs(gap - Math.log(cap)) < NEAR));

function wayOf(
  kind: (typeof KINDS)[number],
  level: Correction['level'],
  low: number,
  high: number,
): CorrectionWay {
  const caps = [
    ...(low > 0 ? [`below ${short(low)}`] : []),
    ...(high < NO_CAP ? [`above ${short(high)}`] : []),
  ];
  return {
    name: `${OF[level]}, ${caps.length === 0 ? 'without a cap' : `${DONE[kind]} ${caps.join(' and ')}`}`,
    items: {
      sampling_correction: kind,
      sampling_correction_level: level,
      sampling_correction_low: low > 0 ? low : null,
      sampling_correction_high: high < NO_CAP ? high : null,
    },
    correction: { kind, level, low, high },
  };
}

const OF = {
  token: 'a ratio per token',
  sequence: 'a ratio per row, the product of its tokens',
  'sequence-mean': 'a ratio per row, the geometric mean of its tokens',
} as const;
const DONE = {
  truncated: 'held where it is',
  masked: 'left out where it is',
  filtered: 'which is no weight, left out where it is',
} as const;

const short = (value: number): number => Number(value.toPrecision(6));

/** Of one row. Products and means of them fall on different sides of the caps in use, and so do their tokens alone. */
const ROWS: readonly Gaps[] = [
  [0.25, -0.125],
  // Within 0.99 and 1.01.
  [1 / 256, -1 / 512],
  [1 / 64, 0],
  [0.0625, 0.0625],
  [0.5, 0.5],
  [1, 1],
  [2, 1],
  [-0.5, -0.5],
  [-2, -1],
  [0.5, -0.5],
  [3, -3],
  [4, 0.125, 0],
  [-4, 0.125, 0],
];
/** Several rows, whose weights may be made equal over the batch. */
const BATCHES: readonly (readonly Gaps[])[] = [
  [[1], [-0.5]],
  [[0.25, 0.25], [-1, 0, 0.5], [2]],
];
const drawnRow = (): fc.Arbitrary<Gaps> =>
  fc.array(
    fc.integer({ min: -MOST_DRAWN, max: MOST_DRAWN }).map((n) => n / GRAIN + 0),
    { minLength: 1, maxLength: 4 },
  );
const NO_CAP = Number.POSITIVE_INFINITY;
const PROMPT = 2;
/** The engine's log-probability stays below 0 beside it. */
const LOGPROB = -8;
/** A ratio of 1,100: beyond every cap in use. */
const FAR = 7;
/** In nats: this near to the far gap itself nothing was held. */
const OPEN = 0.1;
/** exp(-FAR) is 0.0009. */
const LEFT_OUT = 1e-5;
/** The edge of a mask is then known to 7 / 2^20 of itself, which is what float32 holds of a log-probability of 8. */
const STEPS = 20;
const EDGE = 2e-5;
const SOLVED = 1e-6;
const NEAR = 1e-3;
const GRAIN = 64;
const MOST_DRAWN = 3 * GRAIN;
