// Weight decay, by what the groups of the optimiser declare: who is free of it, and whether all of its kind are.
import {
  type Ledger,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerUpdate,
  show,
  type TensorUpdate,
} from '../../../src/index.ts';
import { aside, type Found, judgementFrom, type Said } from '../words.ts';
import { at, fault, groupedBy, named, tensors } from './made.ts';
import { needsUpdates } from './tensors.ts';

const decay: LedgerProperty = {
  id: 'update/decay-spares-what-is-free-of-it',
  title: 'Where biases or norms are free of weight decay, all of them are, and matrices are not',
  stage: 'update',
  level: 'should',
  why: 'A list of names ("LayerNorm.weight") that fits no tensor of this model decays all its norms, which shrinks what they scale.',
  catches: ['OPT-08'],
  needs: needsUpdates,
  judge: (ledger) => {
    const steps = firsts(ledger);
    const said = steps.map((update) => ({ update, said: sayOf(update) }));
    const notices = said.flatMap(({ update }) => undeclared(update)).slice(0, 1);
    return {
      ...judgementFrom(said.map(({ said: one }) => one)),
      ...(notices.length === 0 ? {} : { notices }),
    };
  },
};

/** Groups do not change from step to step: the first of each optimiser is enough. Two optimisers declare nothing together. */
function firsts({ updates }: Ledger): readonly LedgerUpdate[] {
  const own = groupedBy(updates, ({ rank, model, optimizer }) => `${rank} ${model} ${optimizer}`);
  return [...own.values()].flatMap((each) => each.slice(0, 1));
}

interface Kinds {
  readonly small: readonly TensorUpdate[];
  readonly large: readonly TensorUpdate[];
}

const BIAS = /(^|[._])bias$/;
const NORM = /(norm|(^|[._])ln)(_?\d+|_?[a-z]{1,4})?\.weight$|layernorm\.weight$/i;
const EMBEDDING = /embed|wte|wpe/i;

function kindsOf(all: readonly TensorUpdate[]): Kinds {
  const isSmall = ({ name }: TensorUpdate): boolean => BIAS.test(name) || NORM.test(name);
  return {
    small: all.filter(isSmall),
    large: all.filter(
      (tensor) => !isSmall(tensor) && /weight$/.test(tensor.name) && !EMBEDDING.test(tensor.name),
    ),
  };
}

const isFree = ({ decay: own = 0 }: TensorUpdate): boolean => own === 0;

function sayOf(update: LedgerUpdate): Said {
  const held = update.tensors.filter(({ held: times, decay: own }) => times > 0 && own !== undefined);
  const { small, large } = kindsOf(held);
  const free = held.filter(isFree);
  if (free.length === 0 || free.length === held.length)
    return aside('the optimiser decays all tensors, or none');
  const [smallFree, largeFree] = [small.filter(isFree), large.filter(isFree)];
  const paid = small.filter((tensor) => !isFree(tensor));
  if (paid.length > 0 && smallFree.length === 0 && largeFree.length === large.length && large.length > 0)
    return decayed(
      update,
      paid,
      `and none of the ${large.length} matrices (${named(large.map(({ name }) => name))})`,
      'swapped',
    );
  // Groups may be of layers, with a decay each; only a group without matrices says what kind is free.
  if (largeFree.length > 0 || smallFree.length === 0)
    return aside('what is free of weight decay is not biases and norms alone');
  if (paid.length === 0) return 'good';
  return decayed(
    update,
    paid,
    `though others of their kind are free of it (${named(smallFree.map(({ name }) => name))})`,
    'decayed',
  );
}

function decayed(update: LedgerUpdate, paid: readonly TensorUpdate[], why: string, kind: string): Found {
  const names = paid.map(({ name }) => name);
  const most = Math.max(...paid.map(({ decay: own = 0 }) => own));
  return fault({
    harm: paid.length,
    kind,
    sentence: `The optimiser that steps${at(update.place)} decays ${tensors(paid.length)} by ${show(most)}, ${named(names)}, ${why}.`,
    note: 'Compare the names in the groups with those of model.named_parameters(): most lists of names are of another model.',
    given: { place: update.place ?? null, decay: most, decayed: names },
  });
}

/** Nobody chose this one. */
const DEFAULT_DECAY = 0.01;

function undeclared(update: LedgerUpdate): readonly LedgerNotice[] {
  const held = update.tensors.filter(({ held: times, trainable }) => times > 0 && trainable);
  const { small } = kindsOf(held);
  const rates = new Set(held.map(({ decay: own = 0 }) => own));
  const [rate = 0] = rates;
  if (
    rates.size !== 1 ||
    rate === 0 ||
    rate === DEFAULT_DECAY ||
    small.length === 0 ||
    small.length === held.length
  )
    return [];
  return [
    {
      sentence: `A weight decay of ${show(rate)} is on all ${tensors(held.length)}, with ${small.length} biases and norms among them (${named(small.map(({ name }) => name))}): most trainers leave those out.`,
      answers: [],
      remark: true,
    },
  ];
}

export const decayProperties: readonly LedgerProperty[] = [decay];
