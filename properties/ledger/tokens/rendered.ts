// Supervised rows beside the prompts that generate() is given in the same script: written by one template, opened and
// begun alike. Contents differ by right; what the template writes around them does not.
import {
  type Generation,
  type Ids,
  type Ledger,
  type LedgerJudgement,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
  realIds,
  targetsOf,
} from '../../../src/index.ts';
import { factsOf } from '../facts.ts';
import { commonEnd, commonStart, holds } from '../input/kin.ts';
import { asides, type Found, givenOf, idsStrip, judgementOf, placeOf, rowStrip } from '../words.ts';
import { isOffTarget, isSampled } from './trained.ts';

type Template = NonNullable<Ledger['template']>;

/** Both sides of the comparison. */
interface Sides {
  readonly template: Template;
  readonly prompts: readonly Generation[];
  readonly rows: readonly LedgerRow[];
}

function sidesOf(ledger: Ledger): Sides | string {
  const { template, generations, models } = ledger;
  if (template === undefined) return 'no chat template with marks of its own is known';
  const policies = new Set(
    models.filter(({ role }) => role === 'policy').map(({ model, rank }) => `${rank} ${model}`),
  );
  const asked = generations.filter(({ model, rank }) => policies.has(`${rank} ${model}`));
  const prompts = [...new Map(asked.map((each) => [each.promptIds.join(), each])).values()];
  if (prompts.length === 0) return 'no prompt was seen that the trained model was asked to complete';
  const rows = ledger.rows.filter(isSupervised);
  return rows.length === 0
    ? 'no row is trained as supervised data beside what is sampled'
    : { template, prompts, rows };
}

/** Trained, with likelihood alone, and not sampled. */
function isSupervised(row: LedgerRow): boolean {
  if (!row.reached || isSampled(row) || isOffTarget(row)) return false;
  const weights = targetsOf(row).map(({ trained: { weight = 0 } }) => weight);
  return weights.length > 0 && weights.every((weight) => weight >= 0);
}

export const renderedAlike: LedgerProperty = {
  ...factsOf('tokenize/sft-and-rl-tokenize-the-same-prompt'),
  title:
    'Supervised rows are written by the template, and opened as the prompts that generate() is given are',
  level: 'should',
  needs: (ledger) => {
    const sides = sidesOf(ledger);
    return typeof sides === 'string' ? sides : undefined;
  },
  judge: (ledger) => {
    const sides = sidesOf(ledger);
    // Rows of a policy of which the samples were lost on the way say nothing of supervised ones.
    if (typeof sides === 'string') return judgementOf(0, [], []);
    if (ledger.rows.some((row) => targetsOf(row).some(({ trained: { weight = 0 } }) => weight < 0)))
      return judgementOf(0, asides(sides.rows.length, 'tokens of some rows are made less likely'), []);
    return judge(ledger, sides);
  },
};

function judge(ledger: Ledger, sides: Sides): LedgerJudgement {
  const said = [byTemplate, byOpening, byBos, bySystem]
    .map((compare) => compare(ledger, sides))
    .find((each) => each !== undefined);
  const { rows } = sides;
  if (said === undefined) return judgementOf(rows.length, [], []);
  if ('answers' in said)
    return {
      ...judgementOf(0, asides(rows.length, 'the difference to the prompts may be meant'), []),
      notices: [said],
    };
  return judgementOf(rows.length, [], [said]);
}

type Said = Found | LedgerNotice | undefined;

// --- is there a template at all ---

const isRendered = ({ headers }: Template, ids: Ids): boolean =>
  headers.some(({ marks }) => holds(ids, marks));

function byTemplate(ledger: Ledger, sides: Sides): Said {
  const { template, prompts, rows } = sides;
  const asked = prompts.map(({ promptIds }) => isRendered(template, promptIds));
  const taught = rows.map((row) => isRendered(template, realIds(row)));
  const bare = taught.every((each) => !each) && asked.every(Boolean);
  if (!bare && !(taught.every(Boolean) && asked.every((each) => !each))) return undefined;
  const which = bare
    ? 'are written without the chat template, by which the prompts of generate() are'
    : 'are written by the chat template, and the prompts of generate() without it';
  // The same words on both sides are the same question; others may be a text to be read, or a game of completions.
  const shared = prompts.some((prompt) => rows.some((row) => sharesWords(ledger, sides, prompt, row)));
  if (shared) return found(ledger, sides, `The supervised rows ${which}, with the same words in them`);
  return {
    sentence: `The ${many(rows.length, 'supervised row')} ${which}: what is learnt from them is learnt about other prompts than those that are asked.`,
    answers: [],
  };
}

/** So many letters in common are a question in common. */
const WORDS = 8;

function sharesWords(
  { tokenizer }: Ledger,
  { template }: Sides,
  { promptIds }: Generation,
  row: LedgerRow,
): boolean {
  if (tokenizer === undefined) return false;
  const wordsOf = (ids: Ids): string => tokenizer.decode(ids.filter((id) => !tokenizer.specialIds.has(id)));
  const [asked, taught] = [promptIds, realIds(row)].map((ids) => contentOf(template, ids));
  if (asked === undefined || taught === undefined) return false;
  const words = wordsOf(isRendered(template, promptIds) ? asked : taught).trim();
  return words.length >= WORDS && wordsOf(isRendered(template, promptIds) ? taught : asked).includes(words);
}

/** What the last user said, between header and end of turn; a text without headers, whole. */
function contentOf({ headers, stops }: Template, ids: Ids): Ids {
  const header = headers.find(({ name }) => name === 'user');
  const at = header === undefined ? -1 : lastOf(ids, header.marks);
  if (header === undefined || at < 0) return ids;
  const sure = header.whole.every((id, index) => ids[at + index] === id);
  const from = at + (sure ? header.whole : header.marks).length;
  const end = ids.findIndex(
    (id, t) => t >= from && (stops.has(id) || headers.some(({ marks }) => marks[0] === id)),
  );
  return ids.slice(from, end < 0 ? ids.length : end);
}

// --- how the answer is opened ---

function lastOf(ids: Ids, marks: Ids): number {
  for (let at = ids.length - marks.length; at >= 0; at--)
    if (marks.every((id, index) => ids[at + index] === id)) return at;
  return -1;
}

function byOpening(ledger: Ledger, sides: Sides): Said {
  const { template, prompts, rows } = sides;
  const header = template.headers.find(({ name }) => name === 'assistant');
  if (header === undefined) return undefined;
  const tails = prompts.map(({ promptIds }) => {
    const at = lastOf(promptIds, header.marks);
    const answered =
      template.closing !== undefined && promptIds.slice(Math.max(at, 0)).includes(template.closing);
    return at < 0 || answered ? [] : promptIds.slice(at);
  });
  const heads = rows.flatMap((row) => {
    const ids = realIds(row);
    const at = lastOf(ids, header.marks);
    return at < 0 ? [] : [ids.slice(at)];
  });
  if (heads.length < rows.length || !prompts.every(({ promptIds }) => isRendered(template, promptIds)))
    return undefined;
  if (tails.every((tail) => tail.length === 0))
    return found(
      ledger,
      sides,
      'The prompts of generate() end without the header that opens an answer, which stands before every supervised one',
    );
  const [tail = []] = tails;
  const one = tails.every((each) => each.join() === tail.join());
  if (!one || heads.some((head) => commonStart(head, tail) === tail.length)) return undefined;
  const spelled = ledger.tokenizer?.decode(tail) ?? '';
  return {
    sentence: `Each of the ${many(prompts.length, 'prompt')} of generate() opens the answer with ${JSON.stringify(spelled)}, and no supervised row has that before its answer: what is prefilled there is not taught.`,
    answers: [],
  };
}

// --- how the row begins ---

function byBos(ledger: Ledger, sides: Sides): Said {
  const bos = ledger.tokenizer?.bosTokenId;
  if (bos === undefined) return undefined;
  const leading = (ids: Ids): number => {
    const other = ids.findIndex((id) => id !== bos);
    return other < 0 ? ids.length : other;
  };
  const asked = new Set(sides.prompts.map(({ promptIds }) => leading(promptIds)));
  const taught = new Set(sides.rows.map((row) => leading(realIds(row))));
  const [theirs] = asked;
  const [ours] = taught;
  // BOS is cut from rows that are cut at their left, and packed rows have it in their middle.
  if (asked.size !== 1 || taught.size !== 1 || theirs === ours) return undefined;
  return found(
    ledger,
    sides,
    `The prompts of generate() begin with ${theirs} BOS, and the supervised rows with ${ours}`,
  );
}

function bySystem(ledger: Ledger, { template, prompts, rows }: Sides): Said {
  const user = template.headers.find(({ name }) => name === 'user');
  if (user === undefined) return undefined;
  const before = (ids: Ids): string | undefined => {
    for (let at = 0; at + user.marks.length <= ids.length; at++)
      if (user.marks.every((id, index) => ids[at + index] === id)) return ids.slice(0, at).join(' ');
    return undefined;
  };
  const asked = new Set(prompts.map(({ promptIds }) => before(promptIds)));
  const taught = new Set(rows.map((row) => before(realIds(row))));
  const [theirs] = asked;
  const [ours] = taught;
  if (asked.size !== 1 || taught.size !== 1 || theirs === undefined || ours === undefined || theirs === ours)
    return undefined;
  const told = (ids: string): string =>
    ids === '' ? 'nothing' : JSON.stringify(ledger.tokenizer?.decode(ids.split(' ').map(Number)) ?? ids);
  return {
    sentence: `Before the first question the prompts of generate() all have ${told(theirs)}, and the supervised rows ${told(ours)}: another system message than the one that is taught.`,
    answers: [],
  };
}

// --- words ---

function found(ledger: Ledger, { prompts, rows }: Sides, what: string): Found {
  const [row] = rows;
  // Of all prompts, the one that is most like the row.
  const like = (ids: Ids): number => {
    const own = row === undefined ? [] : realIds(row);
    return commonStart(ids, own) + commonEnd(ids, own);
  };
  const [prompt] = prompts.toSorted((a, b) => like(b.promptIds) - like(a.promptIds));
  return {
    harm: rows.length,
    tell: () => ({
      kind: 'rendering',
      sentence: `${what} (${row === undefined ? 'no row' : placeOf(ledger, row)}, generate() call ${prompt?.call}).`,
      strips:
        row === undefined || prompt === undefined
          ? []
          : [rowStrip(ledger, row, []), promptStrip(ledger, prompt)],
      note: 'The first strip is the supervised row, the second the prompt that generate() was given. Render both by one function, with add_generation_prompt where the model is asked.',
      given: { ...(row === undefined ? {} : givenOf(row)), prompt_ids: prompt?.promptIds },
    }),
  };
}

function promptStrip(ledger: Ledger, { promptIds, rank, step }: Generation) {
  const ids = [...promptIds];
  const real = ids.map(() => true);
  const row = { ids, real, rank, step, forward: 0, row: 0, model: 0 };
  return idsStrip(
    ledger,
    row,
    ids.map(() => 'prompt' as const),
    {},
    [],
  );
}
