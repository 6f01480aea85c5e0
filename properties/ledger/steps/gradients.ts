// Whether the gradients that backward passes made are those that the optimiser steps with: none zeroed on the way.
import {
  type Ledger,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerStep,
  type LedgerUpdate,
  many,
} from '../../../src/index.ts';
import { aside, asides, type Found, judgementOf, placeOf } from '../words.ts';
import {
  at,
  eventsOf,
  fault,
  type Made,
  madeSteps,
  manyPushed,
  named,
  needsStep,
  numberIn,
  judge as perStep,
  plural,
  pushedIn,
} from './made.ts';

// --- the whole gradient ---

const reach: LedgerProperty = {
  id: 'update/gradients-reach-the-step',
  title: 'The gradients of a backward pass are there when the optimiser steps',
  stage: 'update',
  level: 'must',
  why: 'zero_grad() between backward() and step(), or an optimiser over frozen parts only: losses are computed, gradients flow, and the step has none.',
  catches: ['OPT-01', 'OPT-03'],
  needs: needsStep,
  judge: (ledger) =>
    perStep(ledger, (step, made) => {
      const rows = ledger.rows.filter((row) => row.step === step.index);
      const pushed = pushedIn(rows);
      if (pushed === 0) return aside('the step trains nothing');
      if (made.some(isElsewhere)) return aside('the optimiser steps on copies, or calls a closure');
      if (rows.some(({ notFinite }) => notFinite > 0)) return aside('a gradient of the step is not finite');
      const updates = ledger.updates.filter((update) => update.step === step.index);
      if (made.every((each) => isWithout(each, updates))) return without(ledger, step, made, updates, pushed);
      // No gradient was seen, and nothing moved: of an engine's own, or in an old trace, that says nothing.
      return made.some(({ gradientNorm, changed }) => gradientNorm !== null || changed)
        ? 'good'
        : aside('neither a gradient nor a change was recorded');
    }),
};

/** The gradients are not in the model's own tensors when the optimiser is called, and rightly so. */
const isElsewhere = ({ copies, closure }: Made): boolean => copies === true || closure === true;

function isWithout({ gradientNorm, changed, zeroed }: Made, updates: readonly LedgerUpdate[]): boolean {
  if (gradientNorm !== null) return gradientNorm === 0;
  const held = updates.flatMap(({ tensors }) => tensors.filter((tensor) => tensor.held > 0));
  // Moved without a gradient that can be seen: an engine of its own has it. Of old traces nothing is known by tensor.
  return (
    !changed && (held.length > 0 || zeroed !== undefined) && held.every(({ norm }) => norm === undefined)
  );
}

function without(
  ledger: Ledger,
  step: LedgerStep,
  made: readonly Made[],
  updates: readonly LedgerUpdate[],
  pushed: number,
): Found {
  const zeroed = made.find((each) => each.zeroed !== undefined)?.zeroed;
  const place = made.find((each) => each.place !== undefined)?.place;
  const all = updates.flatMap(({ tensors }) => tensors);
  const held = all.filter((tensor) => tensor.held > 0);
  const others = all.filter(({ norm, held: times }) => times === 0 && norm !== undefined && norm > 0);
  const zero = held.filter(({ norm }) => norm === 0);
  const optimiser = step.ranks[0]?.optimizer;
  const why =
    zeroed !== undefined
      ? `they were set to nothing${at(zeroed)}, after the backward pass and before step()${at(place)}`
      : others.length > 0
        ? `only tensors that the optimiser (${optimiser}) does not hold have a gradient: ${named(others.map(({ name }) => name))}`
        : zero.length > 0
          ? `the gradients of the tensors that the optimiser (${optimiser}) holds are exactly 0 at step()${at(place)}: ${named(zero.map(({ name }) => name))}`
          : `none of the ${many(held.length, 'tensor')} that the optimiser (${optimiser}) holds has a gradient at step()${at(place)}`;
  return fault({
    harm: pushed,
    kind:
      zeroed !== undefined ? 'zeroed' : others.length > 0 ? 'elsewhere' : zero.length > 0 ? 'zero' : 'none',
    sentence: `Step ${step.index} trains nothing: backward passes brought gradients of ${manyPushed(ledger, pushed)}, and ${why}.`,
    note:
      zeroed === undefined && others.length === 0 && zero.length > 0
        ? 'The backward pass reaches them, and something between them and the loss is 0: a scale, a gate or a mask. Or two matrices are multiplied that both begin at 0: of the two of LoRA, only one may.'
        : 'zero_grad() belongs after step(), or before the first backward pass; the optimiser is to hold what is trained.',
    given: {
      step: step.index,
      zeroed: zeroed ?? null,
      stepped: place ?? null,
      held: held.map(({ name }) => name),
      with_gradient: others.map(({ name }) => name),
    },
  });
}

// --- every micro-batch ---

const batches: LedgerProperty = {
  id: 'update/every-micro-batch-reaches-the-step',
  title: 'The gradients of all micro-batches of a step are in it',
  stage: 'update',
  level: 'should',
  why: 'zero_grad() inside of the loop over micro-batches leaves the last one: the rest was computed for nothing, and the log shows the loss of all.',
  catches: ['OPT-01', 'LOSS-12'],
  needs: needsStep,
  judge: (ledger) => {
    const several = madeSteps(ledger).filter(
      ({ step, made }) => keptOf(ledger, step).length + droppedIn(made) > 1 && !made.some(isElsewhere),
    );
    const alike = areAlike(ledger);
    const judged = several.filter(({ step }) => !alike && !isWorkedOn(ledger, step.index));
    const short = judged.filter(
      ({ step, made }) =>
        (droppedIn(made) > 0 && keptOf(ledger, step).length > 0) || unequalIn(ledger, step) !== undefined,
    );
    // A first pass that claims memory, or a batch that is skipped for its norm, does it now and then.
    // A script that skips makes whole steps beside these; of an epoch's last step one micro-batch may be left.
    const others = madeSteps(ledger)
      .slice(0, -1)
      .filter(({ step }) => !several.some((each) => each.step === step));
    const always = short.length === judged.length && short.length > 1 && others.length === 0;
    const result = judgementOf(
      judged.length - (always ? 0 : short.length),
      [
        ...asides(several.length - judged.length, alike ? 'all rows are the same' : WORKED_ON),
        ...asides(always ? 0 : short.length, 'a micro-batch may be skipped on purpose now and then'),
      ],
      always ? short.map(({ step, made }) => missed(ledger, step, made)) : [],
    );
    const zeroed = short.filter(({ made }) => droppedIn(made) > 0);
    return always ? result : { ...result, notices: zeroed.map(({ step, made }) => once(ledger, step, made)) };
  },
};

const WORKED_ON = 'the script changes weights or gradients within the step';

function missed(ledger: Ledger, step: LedgerStep, made: readonly Made[]): Found {
  const times = droppedIn(made) > 0 ? undefined : unequalIn(ledger, step);
  const place = made.find((each) => each.place !== undefined)?.place;
  return times === undefined ? dropped(ledger, step, made) : unequal(step, times, place);
}

const droppedIn = (made: readonly Made[]): number =>
  made.reduce((sum, each) => sum + (each.dropped?.length ?? 0), 0);

const keptOf = (ledger: Ledger, { index }: LedgerStep): readonly string[] => [
  ...new Set(
    ledger.rows
      .filter((row) => row.step === index && row.reached)
      .map(({ rank, forward }) => `${rank} ${forward}`),
  ),
];

/** Where every row is one and the same, the gradient that a script puts together of several looks like that of the last. */
const areAlike = ({ rows }: Ledger): boolean =>
  new Set(rows.filter(({ reached }) => reached).map(({ ids }) => ids.join(' '))).size === 1;

/** Weights were changed between its forward passes (SAM), or gradients put together by hand: what was zeroed was used. */
const isWorkedOn = (ledger: Ledger, step: number): boolean =>
  eventsOf(ledger, 'between', step).length > 0 ||
  eventsOf(ledger, 'reworked', step).some((event) => (numberIn(event, 'cosine') ?? 0) < SAME_DIRECTION);

/** Clipping to a value turns a gradient a little. */
const SAME_DIRECTION = 0.99;

/**
 * How often each backward pass is in the gradient that the optimiser got, as a least squares fit has it; undefined: all alike, or
 * the fit leaves too much (gradients of several processes, clipping of each tensor by itself, projections).
 */
function unequalIn(ledger: Ledger, { index }: LedgerStep): readonly number[] | undefined {
  const [event] = eventsOf(ledger, 'delivered', index);
  const factors = event?.values.factors;
  if (event === undefined || !Array.isArray(factors) || !((numberIn(event, 'rest') ?? 1) < MOST_REST))
    return undefined;
  const sizes = factors.map((factor) => Math.abs(Number(factor)));
  const largest = Math.max(...sizes);
  const usual = Math.min(...sizes.filter((size) => size > LOST * largest));
  const times = sizes.map((size) => size / usual);
  // A weight that is neither nothing nor a whole number of times the others' may be meant.
  const isPlain = times.every((each) => Math.abs(each - Math.round(each)) < LOST);
  return isPlain && times.some((each) => Math.round(each) !== 1) ? times.map(Math.round) : undefined;
}

/** Shares of a gradient: bfloat16 keeps two to three digits of each addition. */
const MOST_REST = 0.05;
const LOST = 0.05;

function unequal({ index }: LedgerStep, times: readonly number[], place: string | undefined): Found {
  const which = (count: (each: number) => boolean): string =>
    times.flatMap((each, batch) => (count(each) ? [batch] : [])).join(', ');
  const lost = which((each) => each === 0);
  const several = which((each) => each > 1);
  const said = [
    ...(lost === '' ? [] : [`without micro-batch ${lost}`]),
    ...(several === '' ? [] : [`with micro-batch ${several} more than once`]),
  ];
  return fault({
    harm: times.filter((each) => each !== 1).length,
    kind: lost === '' ? 'repeated' : 'lost',
    sentence: `The gradient of step ${index}${at(place)} is the sum of its ${times.length} backward passes ${said.join(' and ')} (counted from 0; each is in it ${times.join(', ')} times).`,
    note: 'Look at what stands between backward() and step(): a buffer that is overwritten where it should be added to, or added twice.',
    given: { step: index, times },
  });
}

function dropped(ledger: Ledger, step: LedgerStep, made: readonly Made[]): Found {
  const [gone, kept] = [droppedIn(made), keptOf(ledger, step).length];
  const zeroed = made.find((each) => each.zeroed !== undefined)?.zeroed;
  return fault({
    harm: gone,
    kind: 'dropped',
    sentence: `Step ${step.index} has only ${kept} of its ${plural(gone + kept, 'micro-batch', 'micro-batches')}: the gradients of the other ${gone} were set to nothing${at(zeroed)} before step().`,
    note: 'It is so in every step: zero_grad() belongs after step(), not into the loop over micro-batches.',
    given: {
      step: step.index,
      forward_passes_dropped: made.flatMap((each) => each.dropped ?? []),
      kept,
      zeroed: zeroed ?? null,
    },
  });
}

function once(ledger: Ledger, { index }: LedgerStep, made: readonly Made[]): LedgerNotice {
  const gone = new Set(made.flatMap((each) => each.dropped ?? []));
  const rows = (ledger.discarded ?? []).filter(({ step, forward }) => step === index && gone.has(forward));
  const which =
    rows[0] === undefined ? '' : ` (${many(rows.length, 'row')}, from ${placeOf(ledger, rows[0])})`;
  const zeroed = made.find((each) => each.zeroed !== undefined)?.zeroed;
  return {
    sentence: `Before step ${index} the gradients of ${plural(droppedIn(made), 'forward pass', 'forward passes')}${which} were set to nothing${at(zeroed)}: what they trained is in no step. Right for a batch that is skipped, and for a first pass that only claims memory.`,
    answers: [],
    remark: true,
  };
}

export const gradientProperties: readonly LedgerProperty[] = [reach, batches];
