// The critic's loss, a piece after the other: what a squared error is multiplied by, how far a value may move before it is
// clipped, and how tokens become one number; and then all of it on whole batches, drawn like those of the properties.
import { gapsBehind } from '../../../generators/losses/gaps.ts';
import { type ValueCase, valueCase } from '../../../generators/losses/value-loss.ts';
import {
  atValueCorner,
  describeValueLoss,
  localValueLoss,
  type ValueLoss,
  type ValueLossSettings,
  valueLoss,
  valueLossVariants,
} from '../../../reference/index.ts';
import { CHOICES, type ItemName, type Semantics } from '../../../vocabulary.ts';
import { bandOf, isHalf } from '../../numbers.ts';
import type { Subject, World } from '../../property.ts';
import { masksOf } from '../../questions/turns.ts';
import { layValues } from '../../rows/values.ts';
import { discard } from '../../subject.ts';
import { draw, type Misfit, misfitOf, type Probe, settled, type Variant } from '../probe.ts';

/** Together they are the formula. */
export const VALUE_ITEMS: readonly ItemName[] = ['value_loss_factor', 'value_clip', 'value_aggregation'];

interface ValueWay extends Variant {
  readonly expect: (given: ValueCase) => ValueLoss;
  readonly clip: number | null;
}

export const valueFactor: Probe<ValueCase> = {
  ...probeOf('value_loss_factor', 'value_loss_factor'),
  variants: async (subject) => {
    const { value_loss_factor: declared } = subject.semantics;
    const { loss } = await ask(subject, oneToken(0, 0, 1), true);
    if (!(loss > 0) || !Number.isFinite(loss)) return discard('a value that is off its return costs nothing');
    const solved = settled(loss, Math.max(SOLVED, bandOf(subject).relative), declared);
    const factors = new Set([solved, 0.5, 1, ...(declared === undefined ? [] : [declared])]);
    return [...factors].map((factor) =>
      way({ value_loss_factor: factor }, `${Number(factor.toPrecision(6))} times the squared error`, {
        aggregation: 'token-mean',
        factor,
        clip: null,
      }),
    );
  },
  // Where it is not the square, some of them tell: small errors and large ones, of either sign.
  cases: () => ERRORS.map((error) => oneToken(0, 0, error)),
};

export const valueClip: Probe<ValueCase> = {
  ...probeOf('value_clip', 'value_clip'),
  lack: lackOf('value_loss_factor'),
  variants: async (subject) => {
    const { value_clip: declared, value_loss_factor: factor = 0.5 } = subject.semantics;
    // A value at its return, far from the old one: all that it costs is the distance of the clip from there.
    const { loss } = await ask(subject, oneToken(0, FAR, FAR), true);
    const width = FAR - Math.sqrt(Math.max(0, loss) / factor);
    const blur = (FAR * Math.max(SOLVED, bandOf(subject).relative)) / Math.abs(width);
    const solved = width > 0 && width < FAR * (1 - SEEN) ? [settled(width, blur, declared)] : [];
    const widths = new Set([null, ...WIDTHS, ...solved, ...(declared === undefined ? [] : [declared])]);
    return [...widths].map((clip) =>
      way(
        { value_clip: clip },
        clip === null
          ? 'values not clipped'
          : `values clipped to ${Number(clip.toPrecision(6))} from their old ones`,
        { aggregation: 'token-mean', factor, clip },
      ),
    );
  },
  cases: (world) => {
    const near = isHalf(world) ? NEAR_HALF : NEAR;
    const { value_clip: declared } = world.semantics;
    const widths = [...WIDTHS, ...(typeof declared === 'number' ? [declared] : [])];
    return [
      ...[1, -1].flatMap((sign) => [
        oneToken(0, sign * FAR, sign * FAR),
        oneToken(0, sign * FAR, -sign),
        oneToken(0, sign * FAR, 2 * sign * FAR),
      ]),
      ...widths.flatMap((width) =>
        [1 - near, 1 + near].map((share) => oneToken(0, share * width, share * width + 1)),
      ),
      ...widths.map((width) => oneToken(0, 4 * width, 4 * width)),
    ];
  },
};

export const valueAggregation: Probe<ValueCase> = {
  ...probeOf('value_aggregation', 'value_aggregation'),
  lack: lackOf('value_loss_factor'),
  variants: async ({ semantics: { value_loss_factor: factor = 0.5 } }) =>
    CHOICES.value_aggregation.values.map((aggregation) =>
      way({ value_aggregation: aggregation }, aggregation, { aggregation, factor, clip: null }),
    ),
  cases: (_, drawn) => [...SHAPES, ...draw(valueCase({ firstPass: true, minRows: 2 }), drawn)].filter(full),
};

/** Says what a policy loss would say first, where there is none. */
export const valueNormalization: Probe<ValueCase> = {
  ...probeOf('value_normalization', 'loss_normalization'),
  lack: (world) => {
    const other = (['loss', 'sft_loss'] as const).find((op) => world.hello.ops[op] !== undefined);
    if (other !== undefined) return `op \`${other}\` speaks for it`;
    if (world.hello.ops.value_loss?.micro_batches !== true)
      return 'op `value_loss` does not offer micro_batches';
    return lackOf('value_loss_factor', 'value_aggregation')(world);
  },
  variants: async ({ semantics }) => {
    const { value_loss_factor: factor = 0.5, value_aggregation: aggregation = 'token-mean' } = semantics;
    const settings: ValueLossSettings = { aggregation, factor, clip: null };
    const local: ValueWay = {
      name: 'the mean of micro-batches with denominators of their own',
      items: { loss_normalization: 'local' },
      clip: null,
      expect: (given) => {
        const laid = layValues(given);
        return localValueLoss({ ...laid, mask: laid.completion_mask }, settings, laid.micro_batches);
      },
    };
    return [way({ loss_normalization: 'global' }, 'denominators of the whole batch', settings), local];
  },
  cases: () => SHAPES,
  fits: (subject, given, variants) => misfits(subject, given, variants as readonly ValueWay[], false),
};

/** It measures no item. Where it does not fit, there is more in the loss than its pieces, and nothing is built on them. */
export const valueFormula: Probe<ValueCase> = {
  ...probeOf('value_formula'),
  confirms: VALUE_ITEMS,
  lack: lackOf('value_loss_factor', 'value_clip', 'value_aggregation'),
  variants: async ({ semantics }) =>
    valueLossVariants(semantics).map((settings) => way({}, describeValueLoss(settings), settings)),
  cases: (world, drawn) => draw(masksOf(world, valueCase({ gaps: true }), gapsBehind), LEAST + drawn),
};

/** What all of these probes have in common. */
function probeOf(
  id: string,
  ...items: readonly ItemName[]
): Pick<Probe<ValueCase>, 'id' | 'items' | 'ops' | 'fits'> {
  return {
    id,
    items,
    ops: ['value_loss'],
    fits: (subject, given, variants) => misfits(subject, given, variants as readonly ValueWay[], true),
  };
}

function way(items: Semantics, name: string, settings: ValueLossSettings): ValueWay {
  return {
    name,
    items,
    clip: settings.clip,
    expect: (given) => {
      const laid = layValues(given);
      return valueLoss({ ...laid, mask: laid.completion_mask }, settings);
    },
  };
}

function lackOf(...items: readonly ItemName[]): (world: World) => string | undefined {
  return ({ semantics }) =>
    items.some((item) => semantics[item] === undefined) ? 'some of its pieces could not be told' : undefined;
}

async function ask(
  subject: Subject,
  given: ValueCase,
  whole: boolean,
): Promise<{ readonly loss: number; readonly weights?: ValueLoss['weights'] }> {
  const { values, old_values, returns, completion_mask, prompt_width, micro_batches } = layValues(given, {
    whole,
  });
  const tracks = { values, old_values, returns, completion_mask, prompt_width };
  const { loss, loss_weights } = await subject.ask('value_loss', { ...tracks, micro_batches });
  return loss_weights === undefined ? { loss } : { loss, weights: loss_weights.map((row) => [...row]) };
}

/** Loss and, where it is answered, its slope: a trainer that says both is held to both. */
async function misfits(
  subject: Subject,
  given: ValueCase,
  variants: readonly ValueWay[],
  whole: boolean,
): Promise<(Misfit | undefined)[]> {
  const observed = await ask(subject, given, whole);
  const laid = layValues(given);
  const input = { ...laid, mask: laid.completion_mask };
  const band = bandOf(subject, laid.completion_mask.flat().length);
  return variants.map(({ expect, clip }) => {
    const expected = expect(given);
    const slopes = expected.weights.flatMap((row, b) =>
      row.flatMap((weight, t) =>
        observed.weights === undefined || atValueCorner(input, clip, [b, t], ROUNDINGS * band.relative)
          ? []
          : [
              {
                where: `the gradient of token ${t} of row ${b}`,
                expected: weight,
                observed: observed.weights[b]?.[t],
              },
            ],
      ),
    );
    return misfitOf(
      [{ where: 'the loss', expected: expected.loss, observed: observed.loss }, ...slopes],
      band.allowed,
    );
  });
}

function oneToken(old: number, value: number, target: number): ValueCase {
  return { rows: [{ prompt: PROMPT, tokens: [{ trained: true, old, value, target }], part: 0 }] };
}

/** Rows whose tokens have these errors, as at sampling. */
function shape(errors: readonly (readonly number[])[], parts: readonly number[]): ValueCase {
  return {
    rows: errors.map((row, at) => ({
      prompt: PROMPT,
      tokens: row.map((error) => ({ trained: true, old: 0, value: 0, target: error })),
      part: parts[at] ?? 0,
    })),
  };
}

/** Without a row that a mean over rows may count or not. */
const full = ({ rows }: ValueCase): boolean => rows.every(({ tokens }) => tokens.length > 0);

const PROMPT = 2;
/** Squares of them are exact in every format. */
const ERRORS = [-0.5, 1, 2, -4, 8];
/** Unequal lengths in unequal parts, so that no two denominators agree. */
const SHAPES: readonly ValueCase[] = [
  shape([[1], [2, -1, 0.5], [1.5, 2]], [0, 1, 1]),
  shape([[0.5, 1], [2, 1, -1, 0.5, 1], [3], [1, -1, 2]], [0, 0, 0, 1]),
  shape([[1, 1, 2, -2], [0.5]], [0, 1]),
];
/** PPO2 of baselines, TRL, OpenRLHF and DeepSpeed-Chat 0.2, verl 0.5, others in use. */
const WIDTHS: readonly number[] = [0.2, 0.5, 0.1, 0.3, 1];
/** Further than anyone clips. */
const FAR = 16;
/** A width as near to FAR as this share of it was not seen. */
const SEEN = 1e-3;
/** Shares of a width, inside and outside of its edge. */
const NEAR = 0.02;
const NEAR_HALF = 0.15;
const SOLVED = 1e-6;
/** Of two squared errors, of which rounding may decide which is the larger. */
const ROUNDINGS = 2;
/** Enough that what only looks like a known way shows in most of them. */
const LEAST = 20;
