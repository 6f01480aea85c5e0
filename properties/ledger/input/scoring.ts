// How sampled rows are scored: at the temperature they were sampled at, and for the first ratio as they are scored while
// they are trained.
import {
  bandsOf,
  type Ledger,
  type LedgerJudgement,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
  medianOf,
  realIds,
  type ScoredRow,
  sameIds,
  show,
  type Trained,
  targetsOf,
} from '../../../src/index.ts';
import { factsOf } from '../facts.ts';
import { explained, isSampled, withoutSampled } from '../tokens/trained.ts';
import {
  aside,
  asides,
  type Found,
  givenOf,
  judgementFrom,
  judgementOf,
  placeOf,
  rowStrip,
  type Said,
  tokenIn,
} from '../words.ts';
import { NO_POLICY, trainsPolicy } from './policy.ts';
import { ratioNotices } from './ratios.ts';

// --- temperature ---

/** Trainers add 1e-7 to the temperature, and a fit of few tokens is a little off: nobody samples at 0.98 of another. */
const LEAST_ROOM = 0.02;

const temperature: LedgerProperty = {
  ...factsOf('logprobs/divide-by-the-temperature'),
  needs: (ledger) => {
    if (ledger.settings.semantics.temperature_in_scoring === false)
      return 'semantics.temperature_in_scoring is false: scores are at temperature 1';
    if (!ledger.rows.some(isSampled)) return withoutSampled(ledger);
    return trainsPolicy(ledger) ? undefined : NO_POLICY;
  },
  judge: (ledger) => {
    const judgement = judgementFrom(ledger.rows.filter(isSampled).map((row) => atTemperature(ledger, row)));
    const notices = [movedNotice(ledger), unreadNotice(ledger)].filter((each) => each !== undefined);
    return notices.length === 0 ? judgement : { ...judgement, notices };
  },
};

/** Nothing can be added in the script's own words, so that nobody is asked. */
function unreadNotice({ generations }: Ledger): LedgerNotice | undefined {
  const unread = generations.filter((each) => each.unread === true);
  if (unread.length === 0) return undefined;
  return {
    sentence: `The temperature of ${many(unread.length, 'sampled sequence')} was not read: a logits processor of the script stands between the logits and each draw. Whether scores are at the temperature of the samples was not judged for them; watch_sample(..., temperature=...) says it.`,
    answers: [],
    remark: true,
  };
}

/** Tokens that were drawn from other logits than those that score them: legal, and seldom meant. */
function movedNotice(ledger: Ledger): LedgerNotice | undefined {
  const rows = ledger.rows.filter(({ spans: { origin } }) =>
    origin.kind === 'generation' ? origin.generations.some((at) => ledger.generations[at]?.moved) : false,
  );
  const scored = rows.filter((row) =>
    targetsOf(row).some(({ trained }) => trained.target !== undefined && isClear(row, trained)),
  );
  const [first] = scored;
  if (first === undefined) return undefined;
  return {
    sentence: `Some tokens of ${placeOf(ledger, first)}${scored.length === 1 ? '' : ` and of ${many(scored.length - 1, 'other row')}`} were drawn from logits that a penalty, a bias or a ban had moved, and are scored without it: the policy that is trained is not the one that sampled.${rows.some((row) => countsPrompt(ledger, row)) ? COUNTS_PROMPT : ''}`,
    answers: [],
  };
}

/** Before anything was sampled, tokens of the prompt were moved. */
const countsPrompt = ({ generations }: Ledger, { spans: { origin } }: LedgerRow): boolean =>
  origin.kind === 'generation' && origin.generations.some((at) => generations[at]?.promptMoved);

const COUNTS_PROMPT =
  ' The first token of a completion was drawn with tokens of its prompt moved: the penalty counts the prompt, as a repetition penalty does and a presence or frequency penalty should not.';

function atTemperature(ledger: Ledger, row: LedgerRow): Said {
  const { origin } = row.spans;
  const of = origin.kind === 'generation' ? origin.generations : [];
  const sampled = new Set(of.map((at) => ledger.generations[at]?.temperature));
  const [expected] = sampled;
  if (sampled.size > 1) return aside('the row was sampled at several temperatures');
  if (expected === undefined || !(expected > 0))
    return aside('the row was sampled greedily, or its temperature was not read');
  const known = targetsOf(row).flatMap(({ column, trained }) =>
    trained.temperature === undefined || trained.target === undefined || !isClear(row, trained)
      ? []
      : [{ column, each: trained.temperature }],
  );
  if (known.length === 0) return aside('the temperature of the scores cannot be read off the gradient');
  const observed = medianOf(known.map(({ each }) => each));
  const room = Math.max(LEAST_ROOM, bandsOf(row.dtype).temperature) * expected;
  if (Math.abs(observed - expected) <= room) return 'good';
  return {
    harm: known.length * Math.abs(Math.log(observed / expected)),
    tell: () => ({
      kind: 'temperature',
      sentence: `The completion of ${placeOf(ledger, row)} was sampled at temperature ${show(expected)} and is scored at ${show(observed)}.`,
      numbers: [
        {
          where: `median over ${known.length} tokens of the temperature that the logits were divided by`,
          expected,
          observed,
          allowed: room,
        },
      ],
      strips: [
        rowStrip(
          ledger,
          row,
          known.map(({ column }) => column),
          { temperature: row.trained.map((each) => each?.temperature) },
        ),
      ],
      note: `It is read off the gradient (${row.dtype}). If this is intended, declare it: --semantics '{"temperature_in_scoring":false}'.`,
      given: { ...givenOf(row), sampled_at: expected, scored_at: observed },
    }),
  };
}

/** A term over the whole vocabulary, an entropy bonus say, moves the temperature that fits best long before its residual is large. */
function isClear(row: LedgerRow, trained: Trained): boolean {
  const { residual = 0 } = trained;
  return explained(row, trained) && (HALVES.has(row.dtype) || residual <= CLEAR);
}

const HALVES: ReadonlySet<string> = new Set(['bfloat16', 'float16']);
/** Measured in float32: 1e-7 without such a term; with one, 2e-4 moves it by 2 %, 1e-3 by 4 %. */
const CLEAR = 1e-4;

// --- the first ratio ---

/** Nats: above the rounding of another batch shape, below what a ratio clip of 0.2 would notice. */
const LEAST_GAP = 2e-3;
/** Bands of a whole model: its scores are sums of many rounded terms. */
const OF_A_MODEL = 10;

const firstRatio: LedgerProperty = {
  ...factsOf('update/first-ratio-is-one'),
  level: 'should',
  needs: (ledger) =>
    ledger.scored.some(({ by, logprobs }) => by === 'policy' && logprobs !== undefined) ||
    ratioNotices(ledger).length > 0
      ? undefined
      : 'no log-probabilities of the policy were scored apart from training',
  judge: (ledger) => {
    const judgement = judgeRatios(ledger);
    const notices = ratioNotices(ledger);
    return notices.length === 0 ? judgement : { ...judgement, notices };
  },
};

function judgeRatios(ledger: Ledger): LedgerJudgement {
  const pairs = ledger.rows.flatMap((row) => {
    const old = isSampled(row) ? twinOf(ledger, row) : undefined;
    const gaps = old === undefined ? [] : gapsOf(row, old);
    return gaps.length === 0 ? [] : [{ row, gaps, worst: Math.max(...gaps.map(({ gap }) => gap)) }];
  });
  const fits = ({ row, worst }: (typeof pairs)[number]): boolean =>
    worst <= Math.max(LEAST_GAP, OF_A_MODEL * bandsOf(row.dtype).logprob);
  // Where no row at all is scored alike, dropout may be on in one of the passes: another matter, and often meant.
  if (!pairs.some(fits))
    return judgementOf(0, asides(pairs.length, 'no row is scored alike in both passes, as with dropout'), []);
  const wrong = pairs.filter((pair) => !fits(pair));
  return judgementOf(
    pairs.length,
    [],
    wrong.map(({ row, gaps, worst }) => notOne(ledger, row, gaps, worst)),
  );
}

interface Gap {
  readonly column: number;
  readonly old: number;
  readonly now: number;
  readonly gap: number;
}

/** The row as the policy scored it before, without a step between. */
function twinOf(ledger: Ledger, row: LedgerRow): ScoredRow | undefined {
  const ids = realIds(row);
  return ledger.scored.find(
    (each) =>
      each.by === 'policy' &&
      each.step === row.step &&
      each.rank === row.rank &&
      each.model === row.model &&
      each.logprobs !== undefined &&
      sameIds(realIds(each), ids),
  );
}

function gapsOf(row: LedgerRow, twin: ScoredRow): Gap[] {
  const shift = twin.real.indexOf(true) - row.real.indexOf(true);
  return targetsOf(row).flatMap(({ column }) => {
    const [old, now] = [twin.logprobs?.[column + shift], row.logprobs?.[column]];
    if (old === undefined || now === undefined || Number.isNaN(old) || Number.isNaN(now)) return [];
    return [{ column, old, now, gap: Math.abs(old - now) }];
  });
}

function notOne(ledger: Ledger, row: LedgerRow, gaps: readonly Gap[], worst: number): Found {
  const at = gaps.find(({ gap }) => gap === worst);
  const room = Math.max(LEAST_GAP, OF_A_MODEL * bandsOf(row.dtype).logprob);
  const wrong = gaps.filter(({ gap }) => gap > room);
  return {
    harm: worst,
    tell: () => ({
      kind: 'score',
      sentence: `${tokenIn(ledger, row, at?.column ?? 0)} of ${placeOf(ledger, row)} was scored as ${show(at?.old)} before, and as ${show(at?.now)} while it was trained, with no step between: the first ratio is not 1.`,
      numbers: wrong.map(({ column, old, now }) => ({
        where: `log-probability of token ${column}`,
        expected: old,
        observed: now,
        allowed: room,
      })),
      strips: [
        rowStrip(
          ledger,
          row,
          wrong.map(({ column }) => column),
        ),
      ],
      note: `Other rows of this run are scored alike in both passes, so it is not dropout: look at padding, positions and mask of the two passes. ${room} nats are left to rounding (${row.dtype}).`,
      given: givenOf(row),
    }),
  };
}

export const scoringProperties: readonly LedgerProperty[] = [temperature, firstRatio];
