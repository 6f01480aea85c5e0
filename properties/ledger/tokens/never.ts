// What must never be trained: prompts, padding, tool output, what stands behind a stop. One rule a place, so that the id
// says what was trained.
import {
  commonOf,
  type Ledger,
  type LedgerJudgement,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
  type PropertyFacts,
  placeholdersOf,
  type Role,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';
import { factsOf } from '../facts.ts';
import { isPushedDown } from '../input/policy.ts';
import { groupRelative } from '../weights/declared.ts';
import { meansOfRows } from '../weights/supervised.ts';
import { alsoOthers, type Found, givenOf, judgementOf, placeOf, rowStrip, tokenIn } from '../words.ts';
import {
  isOffTarget,
  isSampled,
  isTaught,
  mostlyOpen,
  needsSampled,
  needsTaught,
  needsTrained,
  seenAt,
  UNEXPLAINED,
} from './trained.ts';

interface Place {
  readonly id: string;
  /** Of a rule that `check` has not. */
  readonly facts?: Omit<PropertyFacts, 'id'>;
  readonly needs: (ledger: Ledger) => string | undefined;
  /** Rows that the rule speaks of. */
  readonly rows: (row: LedgerRow) => boolean;
  /** Whether column t is such a place; asked only where the spans do not expect training. */
  readonly holds: (row: LedgerRow, column: number, ledger: Ledger) => boolean;
  /** "belongs to the prompt": of the token, with the row behind it. */
  readonly words: (row: LedgerRow, column: number) => string;
  readonly note?: (row: LedgerRow) => string | undefined;
  /** Why such a place may be trained on purpose in this row. */
  readonly meant?: (row: LedgerRow, ledger: Ledger) => string | undefined;
}

const roleIn =
  (...roles: readonly Role[]) =>
  ({ spans }: LedgerRow, column: number): boolean =>
    roles.includes(spans.roles[column] ?? 'padding');

/** Where the first answer begins; in a row without one, nowhere. */
const firstAnswer = ({ spans }: LedgerRow): number => spans.completions[0]?.from ?? Number.POSITIVE_INFINITY;

const asked = roleIn('prompt', 'system');

const PADDING = 'mask/padding-is-never-trained';

const PLACES: readonly Place[] = [
  {
    id: 'mask/prompt-is-never-trained',
    needs: needsSampled,
    rows: isSampled,
    holds: (row, t) => asked(row, t) && t < firstAnswer(row),
    words: () => 'belongs to the prompt of',
    meant: (row, ledger) => (isPlainText(row, ledger) ? 'the row is trained as one text' : undefined),
  },
  {
    id: 'tokenize/prompt-is-not-trained',
    needs: needsTaught,
    rows: isTaught,
    holds: (row, t) => asked(row, t) && t < firstAnswer(row),
    words: () => 'belongs to the prompt of',
    note: meant,
  },
  {
    id: 'tokenize/only-answers-are-trained',
    needs: needsTaught,
    rows: isTaught,
    holds: (row, t) => t >= firstAnswer(row) && roleIn('prompt', 'system', 'completion', 'stop')(row, t),
    words: (row, t) =>
      asked(row, t) ? 'is not said by the assistant in' : 'belongs to an answer that is not to be trained in',
    note: meant,
  },
  {
    id: 'tokenize/tool-output-is-not-trained',
    needs: needsTaught,
    rows: isTaught,
    holds: roleIn('tool'),
    words: () => 'belongs to what a tool answered in',
    note: meant,
  },
  {
    id: 'trajectory/injected-tokens-are-never-trained',
    needs: needsSampled,
    rows: isSampled,
    holds: (row, t) => roleIn('tool')(row, t) || (asked(row, t) && t >= firstAnswer(row)),
    words: () => 'was not sampled, but put between two turns of',
  },
  {
    id: PADDING,
    needs: needsTrained,
    rows: () => true,
    holds: (row, t, ledger) => roleIn('padding')(row, t) && !mayEnd(ledger, row, t) && !trainsAnother(row, t),
    words: () => 'is padding in',
    meant: (row, ledger) =>
      mayBeText(row, ledger) ? 'without an attention mask the padding may be text' : undefined,
  },
  {
    id: 'mask/nothing-after-the-stop-is-trained',
    needs: needsTrained,
    rows: () => true,
    holds: roleIn('after stop'),
    words: () => 'stands after the stop token of',
  },
  {
    id: 'mask/placeholders-are-never-trained',
    facts: {
      title: 'Placeholders of images, videos and sound are never trained',
      stage: 'mask',
      level: 'must',
      why: 'An image is hundreds of placeholders with one id. Where they are trained, most of the loss is to predict that id, and the answer hardly counts.',
      catches: ['MSK-18'],
    },
    needs: (ledger) =>
      ledger.models.some(({ placeholders = [] }) => placeholders.length > 0)
        ? needsTrained(ledger)
        : 'no model has placeholders of images or sound',
    rows: () => true,
    holds: (row, t, { models }) => placeholdersOf(row, models).includes(row.ids[t] ?? -1),
    words: () => 'is a placeholder of an image, a video or sound in',
  },
];

/**
 * The first pad behind an example may be the stop token that ends it, where both share an id and a mask made of ids
 * hides it. Nothing behind it is trained, so that hiding it harms nobody.
 */
function mayEnd({ tokenizer, generations }: Ledger, { ids, real }: LedgerRow, column: number): boolean {
  const id = ids[column] ?? -1;
  if (real[column - 1] !== true || ids[column - 1] === id) return false;
  if (tokenizer?.eosTokenId === id || generations.some(({ eosTokenIds }) => eosTokenIds.includes(id)))
    return true;
  return tokenizer?.eosTokenId === undefined;
}

/**
 * Supervised training on whole texts that were sampled before, or are what the model says by itself: one positive weight
 * for every token of the batch, prompts included. Rows that are trained as a policy have advantages.
 */
function isPlainText(row: LedgerRow, ledger: Ledger): boolean {
  if (groupRelative(ledger.settings) !== undefined || ledger.rows.some(isPushedDown)) return false;
  const mates = ledger.rows.filter(({ rank, forward }) => rank === row.rank && forward === row.forward);
  const common = commonOf(mates.flatMap((each) => weightsOf(targetsOf(each))));
  if (!((common ?? -1) > 0 || meansOfRows(mates))) return false;
  const first = row.real.indexOf(true);
  return row.ids.every((_, t) => t <= first || !row.real[t] || seenAt(row, t) !== 'no');
}

/**
 * Without an attention mask padding is known by its id alone: one or two of the id that ends texts may be empty ones, and a
 * row of one id only is a batch that claims memory.
 */
function mayBeText({ ids, attention, real }: LedgerRow, { tokenizer }: Ledger): boolean {
  if (attention !== undefined) return false;
  if (new Set(ids).size === 1) return true;
  const ends = [tokenizer?.eosTokenId, tokenizer?.bosTokenId].includes(tokenizer?.padTokenId);
  return ends && real.filter((each) => !each).length <= EMPTY_TEXTS;
}

const EMPTY_TEXTS = 2;

/** Where a pad stands the script trains another token: labels that are padded by themselves have the stop token there. */
function trainsAnother({ ids, trained }: LedgerRow, column: number): boolean {
  const target = trained[column]?.target;
  return target !== undefined && target !== ids[column];
}

/** Of a row that everything is trained of: that may be meant, and then it is to be said. */
function meant(row: LedgerRow): string | undefined {
  const untrained = row.ids.some((_, t) => t > 0 && row.real[t] && seenAt(row, t) === 'no');
  return untrained
    ? undefined
    : 'Everything in the row is trained. If that is meant, say so: --train-on all.';
}

function judge(place: Place, ledger: Ledger): LedgerJudgement {
  const found: Found[] = [];
  const setAside: string[] = [];
  const dull: { row: LedgerRow; columns: readonly number[] }[] = [];
  let judged = 0;
  for (const row of ledger.rows) {
    if (!row.reached || !place.rows(row)) continue;
    // The first column is no target: nothing predicts it.
    const columns = row.ids.flatMap((_, t) =>
      t > 0 && row.spans.expected[t] === false && place.holds(row, t, ledger) ? [t] : [],
    );
    if (columns.length === 0) continue;
    const unclear = isOffTarget(row)
      ? OFF_TARGET
      : columns.every((t) => seenAt(row, t) === 'unclear') || mostlyOpen(ledger, row)
        ? UNEXPLAINED
        : place.meant?.(row, ledger);
    if (unclear !== undefined) {
      setAside.push(unclear);
      continue;
    }
    const taught = columns.filter((t) => isTaughtByModel(row, t));
    if (taught.length > 0 && place.id === PADDING) dull.push({ row, columns: taught });
    const wrong = columns.filter(
      (t) => (seenAt(row, t) === 'yes' && !taught.includes(t)) || isSpread(row, t),
    );
    if (wrong.length === 0 && columns.some((t) => seenAt(row, t) === 'unclear')) {
      setAside.push(UNEXPLAINED);
      continue;
    }
    judged++;
    if (wrong.length > 0) found.push({ harm: wrong.length, tell: () => tell(place, ledger, row, wrong) });
  }
  const judgement = judgementOf(judged, setAside, found);
  return dull.length === 0 ? judgement : { ...judgement, notices: [paddingNotice(ledger, dull)] };
}

/** A divergence from a teacher may stand at every token of a text, prompts included; at padding it is of no use. */
function paddingNotice(
  ledger: Ledger,
  dull: readonly { readonly row: LedgerRow; readonly columns: readonly number[] }[],
): LedgerNotice {
  const [first] = dull;
  const count = dull.reduce((sum, { columns }) => sum + columns.length, 0);
  const where = first === undefined ? '' : `, as in ${placeOf(ledger, first.row)}`;
  return {
    sentence: `The model is taught the distribution of its teacher at ${many(count, 'position')} of padding, too${where}: a mean over all positions is then smaller the more padding a batch has.`,
    answers: [],
  };
}

const isTaughtByModel = ({ trained }: LedgerRow, column: number): boolean =>
  trained[column]?.taught !== undefined;

const OFF_TARGET = 'most targets of the row are not the tokens that follow';

/** Label smoothing without a target: the target is ignored there, and what is spread over all tokens is not. */
const isSpread = ({ trained }: LedgerRow, column: number): boolean => trained[column]?.spread !== undefined;

const SPREAD_NOTE =
  'Set the spread part of the loss to 0 where the label is ignored, as the target part is, before it is summed. torch.nn.functional.cross_entropy(label_smoothing=...) does that.';

function tell(place: Place, ledger: Ledger, row: LedgerRow, wrong: readonly number[]) {
  const targets = wrong.filter((t) => !isSpread(row, t));
  const first = (targets.length === 0 ? wrong[0] : targets[0]) ?? 0;
  const note = targets.length === 0 ? SPREAD_NOTE : place.note?.(row);
  const others = alsoOthers(wrong.length - 1, 'so');
  return {
    kind: targets.length === 0 ? 'spread' : 'trained',
    sentence:
      targets.length === 0
        ? `${tokenIn(ledger, row, first)} ${place.words(row, first)} ${placeOf(ledger, row)} and has no target, but label smoothing is spread over all tokens there${others}.`
        : `${tokenIn(ledger, row, first)} ${place.words(row, first)} ${placeOf(ledger, row)} and must not be trained, but it is${others}.`,
    strips: [rowStrip(ledger, row, wrong)],
    ...(note === undefined ? {} : { note }),
    given: givenOf(row),
  };
}

export const neverProperties: readonly LedgerProperty[] = PLACES.map((place) => ({
  ...(place.facts === undefined ? factsOf(place.id) : { id: place.id, ...place.facts }),
  needs: place.needs,
  judge: (ledger) => judge(place, ledger),
}));
