// Trained rows against what was recorded of samplers: the ids that were sampled, behind the prompt that they were sampled from.
import {
  type Generation,
  type Ids,
  type Ledger,
  type LedgerProperty,
  type LedgerRow,
  realIds,
  sameIds,
} from '../../../src/index.ts';
import { factsOf } from '../facts.ts';
import { isSampled, withoutSampled } from '../tokens/trained.ts';
import { groupRelative } from '../weights/declared.ts';
import { type Found, givenOf, judgementOf, placeOf, rowStrip, tokenIn } from '../words.ts';
import { commonStart, endsWith, keyOf, likeness, startsWith } from './kin.ts';
import { isPushedDown, NO_POLICY, TELLING, trainsPolicy } from './policy.ts';

/** Completions that are as like as this are one completion in two spellings, and not two answers. */
const ALIKE = 0.5;

const needsSampling = (ledger: Ledger): string | undefined => {
  if (ledger.generations.length === 0) return withoutSampled(ledger);
  return trainsPolicy(ledger) || ledger.rows.some(isPushedDown) ? undefined : NO_POLICY;
};

/** Generations of which no trained row holds the ids, and rows that hold those of none. */
function unmatched(ledger: Ledger): {
  readonly rows: readonly LedgerRow[];
  readonly generations: readonly Generation[];
} {
  const taken = new Set(
    ledger.rows.flatMap(({ spans: { origin } }) => (origin.kind === 'generation' ? origin.generations : [])),
  );
  // Of equal samples one row is as good as another.
  const known = new Set(
    [...taken].flatMap((at) => {
      const generation = ledger.generations[at];
      return generation === undefined
        ? []
        : [keyOf([...generation.promptIds, -1, ...generation.completionIds])];
    }),
  );
  return {
    rows: ledger.rows.filter((row) => row.reached && !isSampled(row)),
    generations: ledger.generations.filter(
      ({ promptIds, completionIds }) => !known.has(keyOf([...promptIds, -1, ...completionIds])),
    ),
  };
}

const idsScored: LedgerProperty = {
  ...factsOf('rollout/scored-ids-are-sampled-ids'),
  needs: needsSampling,
  judge: (ledger) => {
    const { rows, generations } = unmatched(ledger);
    const good = ledger.rows.filter(isSampled).length;
    // A script of its own may train answers of others to the same prompts, beside what it sampled.
    const declared = groupRelative(ledger.settings) !== undefined;
    const aside: string[] = [];
    const found: Found[] = [];
    for (const row of rows) {
      const ids = realIds(row);
      const kin = generations
        .filter(
          ({ step, promptIds }) => step <= row.step && promptIds.length > 0 && startsWith(ids, promptIds),
        )
        .map((generation) => ({
          generation,
          like: likeness(ids.slice(generation.promptIds.length), generation.completionIds),
        }))
        .sort((a, b) => b.like - a.like)[0];
      const known =
        kin !== undefined &&
        !isCut(ids.slice(kin.generation.promptIds.length), kin.generation.completionIds) &&
        !isFilled(row, kin.generation) &&
        ((declared && kin.like >= ALIKE) ||
          inPlaceOf(kin.generation, row, rows, generations) ||
          sameText(ledger, ids.slice(kin.generation.promptIds.length), kin.generation.completionIds));
      if (known && kin !== undefined) found.push(other(ledger, row, kin.generation));
      else
        aside.push(
          kin === undefined ? NO_PROMPT : 'the answer in the row may be cut, or come from elsewhere',
        );
    }
    return judgementOf(good + found.length, aside, found);
  },
};

/**
 * As many rows as were sampled for this prompt in this step, three at least, some of them pushed down, and none of them
 * as it was sampled: they stand in the place of the samples.
 */
function inPlaceOf(
  { step, promptIds }: Generation,
  at: LedgerRow,
  rows: readonly LedgerRow[],
  generations: readonly Generation[],
): boolean {
  if (step !== at.step) return false;
  const own = rows.filter((row) => row.step === step && startsWith(realIds(row), promptIds));
  const sampled = generations.filter((each) => each.step === step && sameIds(each.promptIds, promptIds));
  return own.length === sampled.length && own.length >= LEAST_OF_GROUP && own.some(isPushedDown);
}

/** Two rows of a prompt may be a preference pair, and samples for the log beside them. */
const LEAST_OF_GROUP = 3;

function callOf({ source = 'generate', call }: Generation): string {
  if (source === 'generate') return `generate() call ${call}`;
  return `${source === 'loop' ? "a loop of the script's own" : source} (call ${call})`;
}

/** One is the beginning of the other: cut to a limit, or with a tool's answer behind it. */
const isCut = (row: Ids, sampled: Ids): boolean => startsWith(row, sampled) || startsWith(sampled, row);

/** A loop's last token was drawn and fed to nobody: a row that had stopped before is filled up there, and not trained. */
function isFilled(row: LedgerRow, { source, promptIds, completionIds }: Generation): boolean {
  const last = promptIds.length + completionIds.length - 1;
  if (source !== 'loop' || commonStart(realIds(row), [...promptIds, ...completionIds]) !== last) return false;
  const weight = row.trained[row.real.indexOf(true) + last]?.weight ?? 0;
  return weight === 0;
}

/** Text that was sampled, and tokenised once more; special tokens are often lost on the way. */
function sameText({ tokenizer }: Ledger, row: Ids, completionIds: Ids): boolean {
  if (tokenizer === undefined) return false;
  const textOf = (ids: Ids): string =>
    tokenizer.decode(ids.filter((id) => !tokenizer.specialIds.has(id))).trim();
  const text = textOf(completionIds);
  return text !== '' && textOf(row) === text;
}

function other(ledger: Ledger, row: LedgerRow, generation: Generation): Found {
  const { promptIds, completionIds } = generation;
  const begin = row.real.indexOf(true);
  const ids = realIds(row);
  const sampled = [...promptIds, ...completionIds];
  const at = commonStart(ids, sampled);
  const column = Math.min(begin + at, row.ids.length - 1);
  const again = sameText(ledger, ids.slice(promptIds.length), completionIds);
  return {
    harm: ids.length - at,
    tell: () => ({
      kind: 'completion',
      sentence: `${tokenIn(ledger, row, column)} of ${placeOf(ledger, row)} is not what was sampled there: the row follows the completion of ${callOf(generation)} up to it${again ? ', and has the same text; it was decoded and tokenised again' : ''}.`,
      strips: [
        rowStrip(ledger, row, [column], {
          sampled: row.ids.map((_, t) => (t < begin ? undefined : sampled[t - begin])),
        }),
      ],
      note: 'Train on the ids that were sampled, and never on their text.',
      given: { ...givenOf(row), prompt_ids: promptIds, sampled_ids: completionIds },
    }),
  };
}

/** Of a row that was not sampled, as far as is known. */
const NO_PROMPT = 'no prompt that was sampled from begins the row';

const promptScored: LedgerProperty = {
  ...factsOf('rollout/scored-prompt-is-the-prompt-generated-from'),
  needs: needsSampling,
  judge: (ledger) => {
    const { rows, generations } = unmatched(ledger);
    const good = ledger.rows.filter(isSampled).length;
    const aside: string[] = [];
    const found: Found[] = [];
    const policy = trainsPolicy(ledger);
    for (const row of rows) {
      const ids = realIds(row);
      const from = !policy
        ? undefined
        : generations.find(
            ({ step, completionIds }) =>
              step <= row.step && completionIds.length >= TELLING && endsWith(ids, completionIds),
          );
      const prompt = ids.slice(0, ids.length - (from?.completionIds.length ?? 0));
      // A prompt that lost one of its ends to a limit is shorter, and no other prompt.
      if (from === undefined) aside.push(policy ? 'no recorded completion ends the row' : NO_POLICY);
      else if (endsWith(from.promptIds, prompt) || startsWith(from.promptIds, prompt))
        aside.push('the prompt of the row is a part of the one that was sampled from');
      else found.push(otherPrompt(ledger, row, prompt, from));
    }
    return judgementOf(good + found.length, aside, found);
  },
};

function otherPrompt(ledger: Ledger, row: LedgerRow, prompt: Ids, generation: Generation): Found {
  const { promptIds, completionIds } = generation;
  const begin = row.real.indexOf(true);
  const at = commonStart(prompt, promptIds);
  const column = begin + at;
  const marks = prompt.flatMap((id, t) => (promptIds[t] === id ? [] : [begin + t]));
  return {
    harm: marks.length + 1,
    tell: () => ({
      kind: 'prompt',
      sentence: `The completion of ${placeOf(ledger, row)} was sampled by ${callOf(generation)} after another prompt: the two part at ${tokenIn(ledger, row, column)}.`,
      strips: [
        rowStrip(ledger, row, marks.length > 0 ? marks : [column], {
          'sampled from': row.ids.map((_, t) => (t < begin ? undefined : promptIds[t - begin])),
        }),
      ],
      given: { ...givenOf(row), prompt_ids: promptIds, sampled_ids: completionIds },
    }),
  };
}

export const rolloutProperties: readonly LedgerProperty[] = [idsScored, promptScored];
