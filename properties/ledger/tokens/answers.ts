// What must be trained of a row of a data set: its answers, and the stop tokens that end them.
import {
  isOpen,
  type Ledger,
  type LedgerJudgement,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
} from '../../../src/index.ts';
import { factsOf } from '../facts.ts';
import { keyOf } from '../input/kin.ts';
import { isPushedDown } from '../input/policy.ts';
import {
  alsoOthers,
  asides,
  type Found,
  givenOf,
  judgementOf,
  placeOf,
  rowStrip,
  tokenIn,
} from '../words.ts';
import { type Completion, columnsOf, isMissing } from './clipped.ts';
import { judgeEnds } from './ends.ts';
import {
  isOffTarget,
  isTaught,
  lostInRounding,
  needsTaught,
  seenAt,
  trainsAny,
  UNEXPLAINED,
} from './trained.ts';

interface Answer {
  readonly row: LedgerRow;
  readonly completion: Completion;
  readonly last: boolean;
  /** Columns that are to be trained, the stop token left out. */
  readonly content: readonly number[];
  readonly missing: readonly number[];
  /** Nothing of it is trained. */
  readonly leftOut: boolean;
}

function answersOf(ledger: Ledger): Answer[] {
  const answers = allAnswers(ledger);
  const prefilled = prefilledOf(answers);
  if (prefilled === 0) return answers;
  return answers.map((each) => ({
    ...each,
    content: each.content.filter((_, at) => at >= prefilled),
    missing: each.missing.filter((t) => t >= (each.content[prefilled] ?? Number.POSITIVE_INFINITY)),
  }));
}

/**
 * So many tokens at the beginning of every answer are the same, and trained in none: the trainer wrote them in front of what
 * was to be answered. One token, or a single answer, is no evidence: a mask that is late looks the same.
 */
function prefilledOf(answers: readonly Answer[]): number {
  const kept = answers.filter(({ leftOut, content }) => !leftOut && content.length > 0);
  const texts = new Set(kept.map(({ row, content }) => keyOf(content.map((t) => row.ids[t] ?? -1))));
  const [first] = kept;
  if (first === undefined || texts.size < LEAST_TEXTS) return 0;
  let length = 0;
  const idAt = ({ row, content }: Answer, at: number): number | undefined => row.ids[content[at] ?? -1];
  while (
    kept.every(
      (each) =>
        idAt(each, length) !== undefined &&
        idAt(each, length) === idAt(first, length) &&
        each.missing.includes(each.content[length] ?? -1),
    )
  )
    length++;
  return length >= LEAST_PREFILLED ? length : 0;
}

const LEAST_PREFILLED = 2;

function allAnswers({ rows }: Ledger): Answer[] {
  return rows
    .filter((row) => row.reached && isTaught(row) && !isOffTarget(row))
    .flatMap((row) =>
      row.spans.completions.map((completion, at, all) => {
        const { from, to, stop } = completion;
        const content = columnsOf(from, stop ?? to).filter((t) => row.spans.expected[t] === true);
        return {
          row,
          completion,
          last: at === all.length - 1,
          content,
          missing: content.filter((t) => isMissing(row, t)),
          leftOut: columnsOf(from, to).every((t) => seenAt(row, t) === 'no'),
        };
      }),
    );
}

/** `needed`: whether an answer that is left out whole is owed by this row. */
function judgeAnswers(
  ledger: Ledger,
  last: boolean,
  needed: (answer: Answer) => boolean,
  what: string,
): LedgerJudgement {
  const answers = answersOf(ledger).filter((each) => each.last === last && each.content.length > 0);
  const asked = answers.filter((each) => !each.leftOut || needed(each));
  const owed = asked.filter((each) => each.missing.length > 0 || isClear(each));
  const idle = owed.filter(({ row }) => isIdle(ledger, row));
  const judged = owed.filter((each) => !idle.includes(each));
  const wrong = judged.filter(({ missing }) => missing.length > 0);
  const judgement = judgementOf(
    judged.length,
    [
      ...asides(answers.length - asked.length, 'the whole answer is left out of the loss, which is legal'),
      ...asides(asked.length - owed.length, UNEXPLAINED),
      ...asides(idle.length, 'nothing was trained in the forward pass of the row'),
    ],
    wrong.map((each) => tellMissing(ledger, each, what)),
  );
  const [first] = idle;
  // A policy stops an epoch early, and takes its loss times 0; in supervised training it is at least worth a word.
  if (first === undefined || trainsByRewards(ledger)) return judgement;
  return { ...judgement, notices: [idleNotice(ledger, first.row)] };
}

/**
 * Nothing at all was trained of the row's forward pass: a loss times 0, as where a policy stops early. One row alone in its
 * pass is such a one where rewards decide, and otherwise a row like any other.
 */
function isIdle(ledger: Ledger, { rank, forward }: LedgerRow): boolean {
  const mates = ledger.rows.filter((row) => row.rank === rank && row.forward === forward);
  if (
    mates.some(
      (row) => row.notFinite > 0 || row.trained.some((each) => each !== undefined && each.weight !== 0),
    )
  )
    return false;
  return mates.length > 1 || trainsByRewards(ledger);
}

/** The script samples, or pushes something down: what it trains, and whether, is decided by rewards. */
const trainsByRewards = ({ generations, rows, settings }: Ledger): boolean =>
  generations.length > 0 || WEIGHS_ROWS.test(settings.trainer ?? '') || rows.some(isPushedDown);

function idleNotice(ledger: Ledger, row: LedgerRow): LedgerNotice {
  const mates = ledger.rows.filter((each) => each.rank === row.rank && each.forward === row.forward);
  return {
    sentence: `Nothing was trained of the ${many(mates.length, 'row')} in the forward pass of ${placeOf(ledger, row)}, though a backward pass reached it: its loss is multiplied by 0, or all of its labels are ignored.`,
    answers: [],
    // Where rewards decide, a group of equal ones trains nothing.
    remark: trainsByRewards(ledger),
  };
}

/** What of it is trained is known: that a gradient is there says nothing of a target that nothing explains. */
const isClear = ({ row, content }: Answer): boolean => content.some((t) => seenAt(row, t) !== 'unclear');

function tellMissing(ledger: Ledger, { row, content, missing, leftOut }: Answer, what: string): Found {
  const first = missing[0] ?? 0;
  const note = !trainsAny(row)
    ? 'Nothing in the row is trained: all labels are -100, or the mask is empty. A header that is not found does that, and a template without {% generation %}.'
    : !leftOut && missing.length === 1 && first === content[0]
      ? 'The first token alone is missing: look for a mask or labels that are shifted by one.'
      : undefined;
  return {
    harm: missing.length,
    tell: () => ({
      kind: leftOut ? 'left out' : 'untrained',
      sentence: `${tokenIn(ledger, row, first)} belongs to ${what} of ${placeOf(ledger, row)} and must be trained, but it is not${alsoOthers(missing.length - 1, 'nor')}.`,
      strips: [rowStrip(ledger, row, missing)],
      ...(note === undefined ? {} : { note }),
      given: givenOf(row),
    }),
  };
}

/** Where nobody says that every turn is meant, training the last answer only is legal. */
const turnsDeclared = ({ settings: { trainOn, semantics, values } }: Ledger): boolean =>
  trainOn === undefined
    ? semantics.sft_target === 'assistant' || values.assistant_only_loss === true
    : trainOn === 'assistant';

/** The loss of a pair may be nothing by itself, once the model tells the two apart; so may be that of a sampled row. */
function weighsRows({ rows, settings }: Ledger, { rank, step }: LedgerRow): boolean {
  if (WEIGHS_ROWS.test(settings.trainer ?? '')) return true;
  return rows.some(
    (row) =>
      row.rank === rank &&
      row.step === step &&
      row.trained.some((each) => each !== undefined && (isOpen(each) || (each.weight ?? 0) < 0)),
  );
}

const WEIGHS_ROWS = /DPO|KTO|ORPO|CPO|BCO|Preference|Reward|GRPO|RLOO|PPO|Nash|XPO/;

function judgeStops(ledger: Ledger): LedgerJudgement {
  const answers = answersOf(ledger).filter(
    ({ row, completion: { stop } }) => stop !== undefined && stop > 0 && row.spans.expected[stop] === true,
  );
  // Of an answer that is left out the other rules speak; an empty one is nothing but its stop token.
  const judged = answers.filter(({ row, content }) => content.some((t) => seenAt(row, t) !== 'no'));
  const wrong = judged.filter(({ row, completion }) => isMissing(row, completion.stop ?? 0));
  const texts = judgeTextEnds(ledger);
  const ends = judgeEnds(ledger);
  const aside = asides(answers.length - judged.length, 'the answer before the stop token is not trained');
  const judgement = judgementOf(judged.length + texts.judged + ends.judged, aside, [
    ...ends.found,
    ...[
      ...wrong.map(({ row, completion: { stop = 0 }, content }) => ({ row, stop, harm: content.length })),
      ...texts.wrong.map(({ row, stop }) => ({ row, stop, harm: 1 })),
    ].map(({ row, stop, harm }): Found => {
      const alike = ledger.tokenizer?.padTokenId === row.ids[stop];
      return {
        harm,
        tell: () => ({
          kind: 'stop',
          sentence: `${tokenIn(ledger, row, stop)} ends ${isTaught(row) ? 'an answer' : 'the text'} of ${placeOf(ledger, row)} that is trained, and is not trained itself.`,
          strips: [rowStrip(ledger, row, [stop])],
          ...(alike ? { note: PAD_BY_ID } : {}),
          given: givenOf(row),
        }),
      };
    }),
  ]);
  return ends.notices.length === 0 ? judgement : { ...judgement, notices: ends.notices };
}

/**
 * The stop tokens of plain texts, which script or tokenizer wrote there to be learnt: attended, behind a token that is
 * trained, and never trained themselves where padding has their id. Nobody said what of a text is trained; that ids
 * decide it, all texts alike, nobody means.
 */
function judgeTextEnds({ rows, tokenizer }: Ledger): {
  judged: number;
  wrong: { row: LedgerRow; stop: number }[];
} {
  const stop = tokenizer?.eosTokenId;
  if (stop === undefined || tokenizer?.padTokenId !== stop) return { judged: 0, wrong: [] };
  // A mask that hides nothing anywhere may be of ones only, and then what looks like a stop token is padding.
  const hides = rows.some(({ attention }) => attention?.includes(0) === true);
  const ends = rows.flatMap((row) => {
    if (!row.reached || row.spans.origin.kind !== 'text' || isOffTarget(row)) return [];
    return row.ids.flatMap((id, t) => {
      const [before = stop, behind = stop] = [row.ids[t - 1], row.ids[t + 1]];
      const ended = row.attention?.[t + 1] !== 1 ? hides : behind !== stop;
      const written = id === stop && row.attention?.[t] === 1 && ended && !tokenizer.specialIds.has(before);
      return written && seenAt(row, t - 1) === 'yes' && !lostInRounding(row, t) ? [{ row, stop: t }] : [];
    });
  });
  const several = new Set(ends.map(({ row: { ids } }) => keyOf(ids))).size >= LEAST_TEXTS;
  const pushed = rows.some((row) => row.trained.some((each) => (each?.weight ?? 0) < 0));
  const byId = several && !pushed && ends.every(({ row, stop: t }) => seenAt(row, t) === 'no');
  return byId ? { judged: ends.length, wrong: ends } : { judged: 0, wrong: [] };
}

/** One text may have been cut there. */
const LEAST_TEXTS = 2;

const PAD_BY_ID =
  'Padding has the same id: whatever hides padding must know it by its place, from attention_mask, and not by its id.';

export const answerProperties: readonly LedgerProperty[] = [
  {
    ...factsOf('tokenize/answer-is-trained'),
    needs: needsTaught,
    judge: (ledger) => judgeAnswers(ledger, true, ({ row }) => !weighsRows(ledger, row), 'the last answer'),
  },
  {
    ...factsOf('tokenize/every-answer-is-trained'),
    needs: needsTaught,
    judge: (ledger) =>
      judgeAnswers(
        ledger,
        false,
        ({ row }) => turnsDeclared(ledger) && !weighsRows(ledger, row),
        'an earlier answer',
      ),
  },
  {
    ...factsOf('tokenize/stop-token-is-trained'),
    needs: (ledger) => (judgeTextEnds(ledger).judged > 0 ? undefined : needsTaught(ledger)),
    judge: judgeStops,
  },
];
