// The loss that a backward pass begins with, beside the loss that its gradient is the gradient of.
import { type LedgerEvent, type LedgerNotice, type LedgerProperty, show } from '../../../src/index.ts';
import { asides, judgementOf } from '../words.ts';
import { at, eventsOf, groupedBy, numberIn } from './made.ts';

/** One backward pass of a supervised loss, all of whose weights were read. */
interface Pass {
  readonly step: number;
  readonly place: string | undefined;
  /** How many times the gradient is that of the loss. */
  readonly factor: number;
  readonly explained: number;
  readonly tokens: number;
  /** A relative error that rounding may leave. */
  readonly room: number;
}

const losses: LedgerProperty = {
  id: 'update/gradient-is-that-of-the-loss',
  title: 'The gradient of a supervised loss is that of its own value',
  stage: 'update',
  level: 'should',
  why: 'A fused loss whose backward pass ignores what the loss is divided by, or uses it twice, makes steps of another size than the log shows.',
  catches: ['OPT-12'],
  needs: (ledger) =>
    eventsOf(ledger, 'loss').length > 0
      ? undefined
      : 'no backward pass began with the value of a supervised loss all of whose weights were read',
  judge: (ledger) => {
    const events = eventsOf(ledger, 'loss');
    const passes = events.flatMap(passOf);
    const off = passes.filter(({ factor, room }) => Math.abs(factor - 1) > Math.max(room, NEAR));
    const notice = off.length === passes.length && off.length > 1 ? noticeOf(off) : undefined;
    const judged = notice === undefined ? passes.length - off.length : passes.length;
    return {
      ...judgementOf(
        judged,
        [
          ...asides(events.length - passes.length, 'the loss is next to nothing, or below 0'),
          ...asides(passes.length - judged, 'other terms in the loss may make the difference'),
        ],
        [],
      ),
      ...(notice === undefined ? {} : { notices: [notice] }),
    };
  },
};

/** A loss with a small term beside the likelihood is within it, and its gradient is right. */
const NEAR = 0.02;
/** Rounding of sums over tokens, in float32 and in half precision. */
const ROOM = 2e-3;
const HALF_ROOM = 2e-2;
/** Losses that are more unlike than so many times rounding: then one factor for all is none by chance. */
const UNLIKE = 10;

function passOf(event: LedgerEvent): readonly Pass[] {
  const [value = 0, explained = 0, tokens = 0] = ['value', 'explained', 'tokens'].map((name) =>
    numberIn(event, name),
  );
  // Below 0 it is no cross-entropy; next to nothing, rounding is all there is.
  if (value < LEAST || explained < LEAST || tokens === 0) return [];
  const room = event.values.half === true ? HALF_ROOM : ROOM;
  return [
    { step: event.step, place: event.place ?? undefined, factor: explained / value, explained, tokens, room },
  ];
}
const LEAST = 1e-6;

function noticeOf(off: readonly Pass[]): LedgerNotice | undefined {
  const [first] = off;
  if (first === undefined || !(isOneFactor(off) || isOneByStep(off) || areCounts(off))) return undefined;
  return {
    sentence: `In each of ${off.length} backward passes${at(first.place)} the gradient is not that of the loss, but ${manyTimes(off)}: a factor that multiplies the loss is ignored or used twice in the backward pass. Step ${first.step}: the loss is ${show(first.explained / first.factor)}, and its gradient is that of ${show(first.explained)}. Let a custom backward() multiply by its grad_output, once.`,
    answers: [],
    asked: true,
  };
}

function manyTimes(off: readonly Pass[]): string {
  const factors = off.map(({ factor }) => factor);
  const [least, most] = [Math.min(...factors), Math.max(...factors)];
  return least / most > 1 - NEAR ? `${show(most)} times that` : `${show(least)} to ${show(most)} times that`;
}

/**
 * Terms that are added to a loss make no constant factor of it, where the likelihood changes: it must change so much that a
 * term that stays what it is (the balance of experts, a penalty) would show.
 */
function isOneFactor(off: readonly Pass[]): boolean {
  const room = Math.max(...off.map((pass) => pass.room));
  const values = off.map(({ explained, factor }) => explained / factor);
  const added = off.map(({ explained, factor }) => explained / factor - explained);
  return (
    spread(off.map(({ factor }) => factor)) <= room &&
    spread(off.map(({ explained }) => explained)) >= UNLIKE * room &&
    Math.max(...added) - Math.min(...added) >= UNLIKE * room * Math.max(...values)
  );
}

/** The factor may differ by step, as a count of tokens does. */
function isOneByStep(off: readonly Pass[]): boolean {
  const steps = [...groupedBy(off, ({ step }) => step).values()];
  return steps.length > 1 && steps.every((passes) => passes.length > 1 && isOneFactor(passes));
}

/**
 * Each is a whole number, or one over it, as counts of tokens, rows or micro-batches are: no sum of terms is, again and again.
 * Sums of float32 are far more exact than `room`, and a large factor must not be near a whole number by chance.
 */
const areCounts = (off: readonly Pass[]): boolean =>
  off.every(({ factor, room }) => {
    const count = Math.max(factor, 1 / factor);
    return count > 1.5 && Math.abs(count - Math.round(count)) <= Math.min(room * count, MOST_FROM_WHOLE);
  }) && spread(off.map(({ explained }) => explained)) > 0;
const MOST_FROM_WHOLE = 0.02;

const spread = (values: readonly number[]): number => Math.max(...values) / Math.min(...values) - 1;

// --- the head's weight ---

const head: LedgerProperty = {
  id: 'update/head-gradient-is-of-its-calls',
  title: "The gradient of the head's weight is that of the tokens that went through it",
  stage: 'update',
  level: 'should',
  why: 'A fused head and loss computes the gradient of its weight by itself: a chunk, a factor or a micro-batch that is lost there shows in no loss.',
  catches: ['OPT-12'],
  needs: (ledger) =>
    eventsOf(ledger, 'head').length > 0
      ? undefined
      : "no step was seen whose gradient of the head's weight could be compared with what went through the head",
  judge: (ledger) => {
    const events = eventsOf(ledger, 'head');
    const judged = events.filter(
      ({ step, rank }) =>
        !ledger.events.some((each) => each.step === step && each.rank === rank && USED.has(each.what)),
    );
    const off = judged.filter((event) => !isRight(event));
    const notices =
      off.length === judged.length ? off.slice(0, 1).map((event) => headNotice(event, off)) : [];
    return {
      ...judgementOf(
        judged.length - (notices.length > 0 ? 0 : off.length),
        asides(events.length - judged.length, 'gradients of an earlier step were left over'),
        [],
      ),
      notices,
    };
  },
};

/** Gradients of the step before are in the sum: other rules say so. */
const USED: ReadonlySet<string> = new Set(['left-over', 'again']);

function isRight(event: LedgerEvent): boolean {
  const [factor = 1, cosine = 1] = [numberIn(event, 'factor'), numberIn(event, 'cosine')];
  return Math.abs(factor - 1) <= (event.values.half === true ? HALF_OFF : OFF) && isAlong(event, cosine);
}
const OFF = 0.01;
const HALF_OFF = 0.06;

const isAlong = ({ values }: LedgerEvent, cosine: number): boolean =>
  cosine >= (values.half === true ? HALF_ALONG : ALONG);
const ALONG = 0.9995;
const HALF_ALONG = 0.99;

function headNotice(event: LedgerEvent, off: readonly LedgerEvent[]): LedgerNotice {
  const [factor = 1, cosine = 1] = [numberIn(event, 'factor'), numberIn(event, 'cosine')];
  const along = isAlong(event, cosine);
  const what = along
    ? `${show(factor)} times the sum`
    : `another one than the sum (cosine ${show(cosine)}, size ${show(factor / cosine)})`;
  return {
    sentence: `In ${off.length === 1 ? `step ${event.step}` : `each of ${off.length} steps`} the gradient of the head's weight is ${what} of weight x (p - target) x hidden state over the tokens that went through the head${at(event.place)}. ${along ? 'It is added up more than once, or a factor of the loss is missing in a custom backward().' : 'A part of it is lost, or the weight is also used elsewhere: by another head, or by a term of the loss.'}`,
    answers: [],
    asked: along,
  };
}

export const lossProperties: readonly LedgerProperty[] = [losses, head];
