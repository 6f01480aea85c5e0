// Which tensors an optimiser holds, and which of them move: the model's own, each of them, and each once.
import {
  isScorer,
  type Ledger,
  type LedgerEvent,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerUpdate,
  many,
  show,
  type TensorUpdate,
} from '../../../src/index.ts';
import { asides, type Found, judgementOf } from '../words.ts';
import { at, eventsOf, fault, groupedBy, madeSteps, named, needsStep, numberIn, tensors } from './made.ts';

export const needsUpdates = ({ updates }: Ledger): string | undefined =>
  updates.length > 0 ? undefined : 'no optimiser step was recorded tensor by tensor';

// --- it holds the model ---

const HALF = new Set(['bfloat16', 'float16']);

const holds: LedgerProperty = {
  id: 'update/optimiser-holds-the-model',
  title: 'The optimiser holds the tensors that are trained, or copies that the model follows',
  stage: 'update',
  level: 'must',
  why: 'An optimiser that was made before the model was copied, cast, resized or sharded steps on tensors that are no longer used.',
  catches: ['OPT-03'],
  needs: needsStep,
  judge: (ledger) => {
    const followed = eventsOf(ledger, 'followed');
    const strange = eventsOf(ledger, 'strangers').filter(({ names }) => names.length > 0);
    const still = followed.filter(
      (event) => numberIn(event, 'moved') === 0 && (numberIn(event, 'rate') ?? 0) > 0,
    );
    // What is rounded to half precision may stay where it is, as long as the copies are trained at all.
    const unsure = still.filter((event) => numberIn(event, 'gradients') !== 0 && isHalf(ledger, event));
    const made = madeSteps(ledger);
    // Of copies it is known only when the model is called again; of an engine's partitions, never.
    const open = made.filter(({ step, made: each }) =>
      each.some(({ copies }) => copies === true)
        ? !followed.some((event) => event.step === step.index)
        : !ledger.updates.some((update) => update.step === step.index),
    ).length;
    const found = [...still.filter((event) => !unsure.includes(event)).map(behind), ...strange.map(orphans)];
    const notices = found.length > 0 ? [] : headsLeftOut(ledger);
    return {
      ...judgementOf(
        Math.max(0, made.length - open - unsure.length),
        [
          ...asides(open, 'it was not seen which tensors the step changes'),
          ...asides(unsure.length, 'a small update may be lost in half precision'),
        ],
        found,
      ),
      ...(notices.length === 0 ? {} : { notices }),
    };
  },
};

/** A head of scores that no optimiser holds stays as random as it was made, unless it was loaded. */
function headsLeftOut({ models, updates }: Ledger): readonly LedgerNotice[] {
  return models
    .filter((model) => isScorer(model) && model.head !== null)
    .slice(0, 1)
    .flatMap(({ model, rank, head }) => {
      const own = updates
        .filter((update) => update.model === model && update.rank === rank)
        .flatMap((update) => update.tensors);
      const held = new Set(own.flatMap((tensor) => (tensor.held > 0 ? [tensor.name] : [])));
      const free = own.filter(
        ({ name, trainable, norm = 0 }) =>
          name.startsWith(`${head}.`) && trainable && norm > 0 && !held.has(name),
      );
      if (free.length === 0 || held.size === 0) return [];
      return [
        {
          sentence: `No optimiser holds the head (${named([...new Set(free.map(({ name }) => name))])}), though it has a gradient, and the optimiser trains ${tensors(held.size)} of the model: the scores are read through a layer that stays as it was. Right where the head was trained before and is meant to stay.`,
          answers: [],
          asked: true,
        },
      ];
    });
}

const isHalf = ({ models }: Ledger, event: LedgerEvent): boolean =>
  models.some(({ model, rank, dtype }) => model === event.model && rank === event.rank && HALF.has(dtype));

function behind(event: LedgerEvent): Found {
  const held = numberIn(event, 'tensors') ?? 0;
  const gradients = numberIn(event, 'gradients') ?? 0;
  const why =
    gradients === 0
      ? 'and none of them has a gradient'
      : 'and what it does to them is not written back into the model';
  return fault({
    harm: held,
    kind: 'others',
    sentence: `The optimiser that steps${at(event.place)} holds ${tensors(held)}, none of which is the model's, ${why}: after step ${event.step} all ${tensors(numberIn(event, 'of') ?? 0)} of the model are as they were.`,
    note: 'The model was copied, cast or sharded after the optimiser was made: make the optimiser last, of the parameters of the model that is trained.',
    given: { step: event.step, place: event.place ?? null, ...event.values },
  });
}

function orphans(event: LedgerEvent): Found {
  const held = numberIn(event, 'count') ?? 0;
  return fault({
    harm: event.names.length,
    kind: 'orphans',
    sentence: `The optimiser that steps${at(event.place)} holds ${tensors(held)} of no model, without a gradient, and no optimiser holds ${named(event.names)}, which ${event.names.length === 1 ? 'has' : 'have'} one.`,
    note: 'Tensors of the model were replaced after the optimiser was made (resized embeddings, a new head, adapters): make the optimiser last.',
    given: { step: event.step, place: event.place ?? null, tensors: event.names, ...event.values },
  });
}

// --- every tensor moves ---

const moves: LedgerProperty = {
  id: 'update/every-tensor-moves',
  title: 'A step changes every tensor that it has a gradient and a learning rate for',
  stage: 'update',
  level: 'must',
  why: 'A loop that leaves some parameters out, or values that are put back, trains a part of the model and says nothing.',
  catches: ['OPT-04'],
  needs: needsUpdates,
  judge: (ledger) => {
    const live = ledger.updates.filter(({ tensors: all }) => all.some(({ moved }) => moved === true));
    const groups = groupedBy(
      live.flatMap((update) => update.tensors.filter(shouldMove).map((tensor) => ({ update, tensor }))),
      ({ update, tensor }) => `${update.rank} ${update.model} ${tensor.name}`,
    );
    const still = [...groups.values()].filter((seen) => seen.every(({ tensor }) => tensor.moved === false));
    const byUpdate = groupedBy(
      still.flatMap((seen) => seen.slice(0, 1)),
      ({ update }) => update,
    );
    const found = [...byUpdate].map(([update, seen]) =>
      unmoved(
        update,
        seen.map(({ tensor }) => tensor),
      ),
    );
    const notices = eventsOf(ledger, 'made-anew')
      .flatMap((event) => madeAnew(ledger, event))
      .slice(0, 1);
    return { ...judgementOf(groups.size, [], found), ...(notices.length === 0 ? {} : { notices }) };
  },
};

function madeAnew(ledger: Ledger, event: LedgerEvent): readonly LedgerNotice[] {
  const { step } = event;
  const names = event.names.filter((name) => !comesFromAnother(ledger, event, name));
  const count = (numberIn(event, 'tensors') ?? event.names.length) - (event.names.length - names.length);
  if (names.length === 0) return [];
  return [
    {
      sentence: `Before step ${step}, ${tensors(count)} changed while no optimiser was at work: ${named(names, count)}. Right where weights are averaged, merged, projected or loaded between steps; else something initialises them again.`,
      answers: [],
    },
  ];
}

/** It is dealt out to the optimiser of another rank, which sends it to all, as in ZeRO 1 by hand. */
function comesFromAnother({ updates }: Ledger, { rank, model }: LedgerEvent, tensor: string): boolean {
  const held = updates.filter(
    (update) =>
      update.model === model && update.tensors.some(({ name, held: times }) => name === tensor && times > 0),
  );
  return held.length > 0 && held.every((update) => update.rank !== rank);
}

/** A gradient so strong that the update is no rounding error of a float32, as plain descent or Adam make it. */
function shouldMove({ held, norm = 0, rate = 0, moved, dtype, peak = 0, beside = 0 }: TensorUpdate): boolean {
  if (held === 0 || moved === undefined || rate <= 0 || !(norm > 0) || !Number.isFinite(norm)) return false;
  if (dtype !== 'float32' && dtype !== 'float64') return false;
  return rate * Math.min(peak, 1) > LEAST_UPDATE * Math.max(beside, LEAST_WEIGHT);
}
/** Of the weight's size: a float32 tells numbers apart that differ by a hundredth of this. */
const LEAST_UPDATE = 1e-5;
const LEAST_WEIGHT = 1e-6;

function unmoved(update: LedgerUpdate, still: readonly TensorUpdate[]): Found {
  const names = still.map(({ name }) => name);
  const rate = Math.max(...still.map((tensor) => tensor.rate ?? 0));
  return fault({
    harm: still.length,
    kind: 'unmoved',
    sentence: `Step ${update.step}${at(update.place)} left ${tensors(still.length)} as ${still.length === 1 ? 'it was' : 'they were'}, with a gradient and a learning rate of ${show(rate)}, and moved others: ${named(names)}.`,
    given: {
      step: update.step,
      place: update.place ?? null,
      tensors: still.map(({ name, norm, rate: own }) => ({ name, gradient_norm: norm, learning_rate: own })),
    },
  });
}

// --- each once ---

const once: LedgerProperty = {
  id: 'update/one-optimiser-a-tensor',
  title: 'No tensor is updated twice in one step',
  stage: 'update',
  level: 'should',
  why: 'A parameter in two groups or two optimisers gets two updates, two decays and two learning rates.',
  catches: ['OPT-04'],
  needs: needsUpdates,
  judge: (ledger) => {
    const held = ledger.updates.flatMap((update) =>
      update.tensors.filter((tensor) => tensor.held > 0).map((tensor) => ({ update, tensor })),
    );
    const groups = groupedBy(
      held,
      ({ update, tensor }) => `${update.rank} ${update.step} ${update.model} ${tensor.name}`,
    );
    const twice = [...groups.values()].filter(
      (seen) =>
        seen.some(({ tensor }) => tensor.held > 1) ||
        new Set(
          seen.flatMap(({ update, tensor }) =>
            (tensor.rate ?? 0) > 0 && tensor.moved ? [update.optimizer] : [],
          ),
        ).size > 1,
    );
    const bySteps = groupedBy(twice, ([first]) => first?.update.step ?? 0);
    return judgementOf(
      groups.size,
      [],
      [...bySteps].map(([step, seen]) => {
        const names = seen.flatMap(([first]) => (first === undefined ? [] : [first.tensor.name]));
        const places = [...new Set(seen.flat().map(({ update }) => update.place))];
        return fault({
          harm: names.length,
          kind: 'twice',
          sentence: `In step ${step} ${many(names.length, 'tensor')} ${names.length === 1 ? 'is' : 'are'} updated twice${places.map(at).join(' and')}: ${named(names)}.`,
          note: 'Each parameter belongs into one group of one optimiser.',
          given: { step, tensors: names },
        });
      }),
    );
  },
};

export const tensorProperties: readonly LedgerProperty[] = [holds, moves, once];
