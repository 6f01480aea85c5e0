// Whether gradients come down to the lowest layer: a graph that is cut somewhere trains what lies above the cut.
import type { Ledger, LedgerNotice, LedgerProperty, TensorUpdate } from '../../../src/index.ts';
import { asides, type Found, judgementOf } from '../words.ts';
import { eventsOf, fault, groupedBy, named, tensors } from './made.ts';
import { needsUpdates } from './tensors.ts';

interface Seen {
  readonly name: string;
  readonly trainable: boolean;
  readonly held: boolean;
  readonly gradient: boolean;
}

const layers: LedgerProperty = {
  id: 'update/gradients-reach-every-layer',
  title: 'Gradients come down to every layer that is trained',
  stage: 'update',
  level: 'should',
  why: 'A detach() or a no_grad() in the middle of a model leaves all layers below it as they were; the loss still falls a little.',
  catches: ['OPT-04'],
  needs: needsUpdates,
  judge: (ledger) => {
    const models = [...groupedBy(ledger.updates, ({ rank, model }) => `${rank} ${model}`).values()]
      .map((updates) => seenIn(updates.flatMap((update) => update.tensors)))
      .filter((seen) => seen.some(({ gradient }) => gradient));
    const found = models.flatMap((seen) => cutIn(seen));
    const notices = found.length > 0 ? [] : models.slice(0, 1).flatMap((seen) => noticesOf(ledger, seen));
    // A model without numbered layers shows no lowest one.
    const judged = models.filter((seen) => listsIn(seen).some(({ order }) => order.length > 1)).length;
    return {
      ...judgementOf(
        judged,
        asides(models.length - judged, 'the model has no numbered layers to train'),
        found,
      ),
      ...(notices.length === 0 ? {} : { notices }),
    };
  },
};

function seenIn(all: readonly TensorUpdate[]): readonly Seen[] {
  const named = groupedBy(
    all.filter(({ size }) => size > 0),
    ({ name }) => name,
  );
  return [...named].map(([name, seen]) => ({
    name,
    trainable: seen.every(({ trainable }) => trainable),
    held: seen.some(({ held }) => held > 0),
    // Zeros from the first step on are a gradient: adapters begin with them. Later ones were only set to zero.
    gradient: seen.some(({ norm }) => norm !== undefined && norm > 0) || seen[0]?.norm !== undefined,
  }));
}

interface Layers {
  readonly list: string;
  readonly parts: readonly Seen[];
  readonly numbers: ReadonlyMap<number, readonly Seen[]>;
  /** Of the layers, from the lowest. */
  readonly order: readonly number[];
}

/** The numbered lists of layers that are to be trained. */
function listsIn(seen: readonly Seen[]): readonly Layers[] {
  const lists = groupedBy(
    seen.filter(({ name, trainable }) => trainable && NUMBERED.test(name) && !EXPERT.test(name)),
    ({ name }) => NUMBERED.exec(name)?.[1] ?? '',
  );
  return [...lists].map(([list, parts]) => {
    const numbers = groupedBy(parts, ({ name }) => Number(NUMBERED.exec(name)?.[2]));
    return { list, parts, numbers, order: [...numbers.keys()].sort((a, b) => a - b) };
  });
}

/** Layers that lie below the first with a gradient, in each numbered list of them. */
function cutIn(seen: readonly Seen[]): readonly Found[] {
  return listsIn(seen).flatMap(({ list, parts, numbers, order }) => {
    const first = order.findIndex((number) => numbers.get(number)?.some(({ gradient }) => gradient));
    const below = first < 0 ? order : order.slice(0, first);
    // What is in no optimiser is not meant to be trained; of a list without any gradient the rows may make no use.
    const meant = below.some((number) => numbers.get(number)?.some(({ held }) => held));
    if (below.length === 0 || !meant || order.length < 2) return [];
    if (first < 0 && !isMain(list, parts, seen)) return [];
    return [cut(list, below, order[first], seen)];
  });
}

/** The list that most of the model's tensors are in: its layers. */
const isMain = (list: string, parts: readonly Seen[], seen: readonly Seen[]): boolean =>
  list.split('.').length <= MOST_DEEP && parts.length * 2 > seen.filter(({ trainable }) => trainable).length;
const MOST_DEEP = 4;

/** "model.layers", 3 of "model.layers.3.mlp.weight". */
const NUMBERED = /^(.*?)\.?(\d+)\./;
/** Tokens may go to none of them, and rows have no image. */
const EXPERT = /expert|vision|visual|image|audio|speech/i;

function cut(
  list: string,
  below: readonly number[],
  first: number | undefined,
  seen: readonly Seen[],
): Found {
  const prefix = list === '' ? '' : `${list}.`;
  const without = seen.filter(({ trainable, gradient }) => trainable && !gradient).map(({ name }) => name);
  const others = seen.filter(({ gradient }) => gradient).map(({ name }) => name);
  const where =
    first === undefined
      ? `no layer of ${list} has a gradient, though the optimiser holds them; only ${named(others)} ${others.length === 1 ? 'has' : 'have'}`
      : `the gradient comes down to ${prefix}${first} and no further: ${below.map((number) => `${prefix}${number}`).join(', ')} ${below.length === 1 ? 'has' : 'have'} none`;
  return fault({
    harm: without.length,
    kind: 'cut',
    sentence: `In all traced steps ${where}.`,
    note: 'Look for detach(), no_grad(), .data or a new tensor between these layers. Layers that are not to be trained are frozen with requires_grad_(False).',
    given: { without_gradient: without, with_gradient: others.slice(0, 32) },
  });
}

function noticesOf(ledger: Ledger, seen: readonly Seen[]): readonly LedgerNotice[] {
  const used = seen.filter(({ trainable, name }) => trainable && !EXPERT.test(name));
  const without = used.filter(({ gradient, held }) => !gradient && held).map(({ name }) => name);
  const free = used.filter(({ gradient, held }) => gradient && !held).map(({ name }) => name);
  const strange = eventsOf(ledger, 'strangers').length > 0 || eventsOf(ledger, 'followed').length > 0;
  return [
    ...(without.length === 0
      ? []
      : [
          {
            sentence: `${without.length} of ${tensors(used.length)} that are to be trained got no gradient in the traced steps: ${named(without)}. Right for parts that the rows make no use of.`,
            answers: [],
            remark: true,
          },
        ]),
    ...(free.length === 0 || strange || free.length === used.length
      ? []
      : [
          {
            sentence: `${free.length} of ${tensors(used.length)} with a gradient are in no optimiser that stepped: ${named(free)}. Right where only the others are to be trained.`,
            answers: [],
            // Adapters stand in the layers, and many scripts leave the base out of the optimiser in place of freezing it.
            remark: used.some(({ name, held }) => held && NUMBERED.test(name)),
          },
        ]),
  ];
}

export const layerProperties: readonly LedgerProperty[] = [layers];
