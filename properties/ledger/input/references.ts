// The reference scores the rows that the policy is trained on: the same ids, behind the same prompt.
import {
  commonOf,
  type Ids,
  isOpen,
  type Ledger,
  type LedgerProperty,
  type LedgerRow,
  many,
  realIds,
  type ScoredRow,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';
import { isSampled } from '../tokens/trained.ts';
import { betaOf } from '../weights/declared.ts';
import {
  type Aside,
  aside,
  type Found,
  givenOf,
  idsStrip,
  isAside,
  judgementFrom,
  placeOf,
  rowStrip,
  tokenIn,
} from '../words.ts';
import { commonEnd, commonStart, endsWith, holds, keyOf, startsWith } from './kin.ts';
import { isPushedDown } from './policy.ts';

/** So many trained ids stand at the end of another row by no chance. */
const TELLING = 2;

export const sameRows: LedgerProperty = {
  id: 'trace/reference-sees-the-same-rows',
  title: 'The reference scores each row that the policy is trained on, after the same prompt',
  stage: 'trace',
  level: 'must',
  why: 'A KL or a margin against a reference that read another prompt compares two questions: it punishes the policy for knowing its own.',
  catches: ['TPL-07', 'TOK-07', 'TRN-03', 'LP-16'],
  needs: (ledger) =>
    ledger.scored.some(({ by }) => by === 'reference')
      ? undefined
      : 'no forward pass of a reference was seen: there is none, or its scores were made before',
  judge: (ledger) => {
    const world = worldOf(ledger);
    return judgementFrom(
      ledger.rows.map((row) => {
        if (hasTwin(world, row)) return 'good';
        const wrong = misread(ledger, row, world.strangers.get(row.step) ?? []);
        return isAside(wrong) ? wrong : otherPrompt(ledger, row, wrong);
      }),
    );
  },
};

interface World {
  readonly references: readonly Ids[];
  readonly keys: ReadonlySet<string>;
  /** Of each step, rows that only the reference has seen. */
  readonly strangers: ReadonlyMap<number, readonly ScoredRow[]>;
}

function worldOf(ledger: Ledger): World {
  const references = ledger.scored.filter(({ by }) => by === 'reference');
  // Rows of other steps and of evaluation, and what was sampled and not trained, count: scores may be made ahead.
  const seen = [
    ...ledger.rows.map(realIds),
    ...ledger.scored.filter(({ by }) => by === 'policy').map(realIds),
    ...ledger.generations.map(({ promptIds, completionIds }) => [...promptIds, ...completionIds]),
  ];
  const known = new Set(seen.map(keyOf));
  const strangers = new Map<number, ScoredRow[]>();
  for (const row of references) {
    const ids = realIds(row);
    if (known.has(keyOf(ids)) || seen.some((each) => isTwin(each, ids))) continue;
    strangers.set(row.step, [...(strangers.get(row.step) ?? []), row]);
  }
  const ids = references.map(realIds);
  return { references: ids, keys: new Set(ids.map(keyOf)), strangers };
}

function hasTwin({ keys, references }: World, row: LedgerRow): boolean {
  const ids = realIds(row);
  return keys.has(keyOf(ids)) || references.some((each) => isTwin(ids, each));
}

/**
 * The reference has the row in all that matters: with a column more or less at the end, of which no target follows, or
 * one of the two packed into a longer row.
 */
function isTwin(policy: Ids, reference: Ids): boolean {
  if (reference.length >= policy.length) return holds(reference, policy);
  if (startsWith(policy, reference) && policy.length - reference.length === 1) return true;
  // Packed with others into one row of the policy; behind its first ids, a part of the same row would be no twin.
  return (
    policy.length >= PACKED * reference.length && holds(policy, reference) && !endsWith(policy, reference)
  );
}

/** A row that holds others is longer than one of them by half, or it is one itself. */
const PACKED = 1.5;

/**
 * A reference may have a part in the row's weights. Supervised rows have none, and beside them other models are evaluated
 * on other prompts; a sampled completion with one weight holds no KL term, and a judge may have read it its own way.
 */
function mayHoldReference(ledger: Ledger, row: LedgerRow): boolean {
  if (ledger.settings.trainer !== undefined || (betaOf(ledger.settings) ?? 0) !== 0) return true;
  if (!ledger.rows.some(isPushedDown)) return false;
  return !isSampled(row) || commonOf(weightsOf(targetsOf(row))) === undefined;
}

/** A row of the reference that ends with what is trained here, behind something else. */
function misread(ledger: Ledger, row: LedgerRow, strangers: readonly ScoredRow[]): ScoredRow | Aside {
  if (!row.reached) return aside('no backward pass reached the row');
  if (!mayHoldReference(ledger, row)) return aside('nothing says that a reference is part of the loss');
  const targets = targetsOf(row);
  // Distillation hands whole distributions over, and its teacher may know more than the pupil.
  if (targets.some(({ trained }) => isOpen(trained))) return aside('no single target explains the gradient');
  const ids = realIds(row);
  const first = firstTrained(row);
  const completion = ids.slice(first);
  const none = aside('the reference scored no row that ends as this one');
  if (first <= 0 || completion.length < TELLING) return none;
  return strangers.find((each) => endsWith(realIds(each), completion)) ?? none;
}

/** Ids of the row before the first one that is trained, or that would be if its advantage were not 0. */
const firstTrained = (row: LedgerRow): number =>
  (targetsOf(row)[0]?.column ?? expectedFrom(row)) - row.real.indexOf(true);

const expectedFrom = ({ spans, ids }: LedgerRow): number => spans.completions[0]?.from ?? ids.length;

function otherPrompt(ledger: Ledger, row: LedgerRow, reference: ScoredRow): Found {
  const ids = realIds(row);
  const theirs = realIds(reference);
  const begin = row.real.indexOf(true);
  const at = commonStart(ids, theirs);
  const tail = Math.min(commonEnd(ids, theirs), Math.min(ids.length, theirs.length));
  const completion = ids.length - firstTrained(row);
  const marks = ids.flatMap((_, t) => (t >= at && t < ids.length - tail ? [begin + t] : []));
  const column = marks[0] ?? begin + at;
  const shift = reference.real.indexOf(true);
  const wrong = theirs.flatMap((_, t) => (t >= at && t < theirs.length - tail ? [shift + t] : []));
  return {
    harm: marks.length + 1,
    tell: () => ({
      kind: 'prompt',
      sentence: `The reference scores the completion of ${placeOf(ledger, row)} after another prompt: it read ${many(theirs.length - completion, 'id')} before it, the policy ${many(ids.length - completion, 'id')}, and they part at ${tokenIn(ledger, row, column)}.`,
      strips: [
        rowStrip(ledger, row, marks.length > 0 ? marks : [column]),
        idsStrip(
          ledger,
          reference,
          reference.ids.map((_, t) =>
            !reference.real[t] ? 'padding' : t - shift < theirs.length - completion ? 'prompt' : 'completion',
          ),
          {},
          wrong,
        ),
      ],
      note: `The second strip is the reference's row, ${placeOf(ledger, reference)}. Hand both models the same ids, mask and positions.`,
      given: { ...givenOf(row), reference_ids: reference.ids },
    }),
  };
}
