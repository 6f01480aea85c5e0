// Steps that were made, one by one, for rules that judge each of them.
import {
  type Ledger,
  type LedgerEvent,
  type LedgerProperty,
  type LedgerRow,
  type LedgerStep,
  many,
  type RankStep,
  scoresOnly,
  targetsOf,
} from '../../../src/index.ts';
import { aside, type Found, judgementFrom, type Said } from '../words.ts';

export type Made = NonNullable<RankStep['done']>;

/** Steps that every rank finished. A scaler that meets an infinite gradient leaves a step out, as it should. */
export function madeSteps({
  steps,
}: Ledger): { readonly step: LedgerStep; readonly made: readonly Made[] }[] {
  return steps.flatMap((step) => {
    const made = step.ranks.map(({ done }) => done).filter((done) => done !== undefined);
    return made.length === step.ranks.length && made.length > 0 ? [{ step, made }] : [];
  });
}

export const needsStep = (ledger: Ledger): string | undefined =>
  madeSteps(ledger).length > 0 ? undefined : 'no optimiser step of a language model was finished';

export function judge(
  ledger: Ledger,
  sayOf: (step: LedgerStep, made: readonly Made[]) => Said,
): ReturnType<LedgerProperty['judge']> {
  const said = madeSteps(ledger).map(({ step, made }) =>
    made.some(({ skipped }) => skipped === true)
      ? aside('a gradient scaler left the step out')
      : sayOf(step, made),
  );
  return judgementFrom(said);
}

/** The tracer looked at its gradients, tensor by tensor: not at those of an engine's partitions, of copies, or of a closure. */
export const wasLookedAt = ({ updates }: Ledger, { index }: LedgerStep, made: readonly Made[]): boolean =>
  updates.some(({ step }) => step === index) && !made.some(({ closure }) => closure === true);

/** Why a rule about tensors sets a step aside of which that is not so. */
export const NOT_LOOKED_AT = 'the gradients of the step were not recorded tensor by tensor';

/** " at train.py:41", or nothing where it is not known. */
export const at = (place: string | undefined): string =>
  place === undefined || place === '' ? '' : ` at ${place}`;

/** "a.weight, b.weight and 3 more". */
export function named(names: readonly string[], total = names.length): string {
  const told = names.slice(0, MOST_NAMED);
  const rest = Math.max(total, names.length) - told.length;
  return rest > 0 ? `${told.join(', ')} and ${rest} more` : told.join(', ');
}
const MOST_NAMED = 4;

/** What was seen of the steps of this rank. */
export const eventsOf = ({ events }: Ledger, what: string, step?: number): readonly LedgerEvent[] =>
  events.filter((event) => event.what === what && (step === undefined || event.step === step));

/** A number of an event; undefined where it has none of that name. */
export function numberIn({ values }: LedgerEvent, name: string): number | undefined {
  const value = values[name];
  return typeof value === 'number' ? value : undefined;
}

/** Tokens whose gradient is more than 0, by row. */
export const pushedIn = (rows: readonly LedgerRow[]): number =>
  rows.flatMap(targetsOf).filter(({ trained: { weight } }) => weight !== undefined && weight !== 0).length;

/** "8 tokens"; of a model that predicts none, "8 scores". */
export const manyPushed = (ledger: Ledger, count: number): string =>
  many(count, scoresOnly(ledger) ? 'score' : 'token');

/** What a rule found, from its words. */
export function fault(told: {
  readonly harm: number;
  readonly kind: string;
  readonly sentence: string;
  readonly note?: string;
  readonly given: unknown;
}): Found {
  const { harm, ...rest } = told;
  return { harm, tell: () => rest };
}

/** For nouns whose plural has more than an s. */
export const plural = (count: number, one: string, several: string): string =>
  `${count} ${count === 1 ? one : several}`;

/** In the order in which the keys come first. */
export function groupedBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

export const tensors = (count: number): string => many(count, 'tensor');
