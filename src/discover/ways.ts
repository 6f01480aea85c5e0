// The ways of calling one function for one op, judged: what of them is a binding, what a near miss, what a person must settle.
import type { Property } from '../check/property.ts';
import type { StopSignal } from '../check/stop.ts';
import type { Op } from '../protocol/message.ts';
import { againstNames } from './against-names.ts';
import type { Candidate, Dialogue, Way } from './dialogue.ts';
import { type Fit, type Misfit, type Open, share } from './found.ts';
import { isGuessed } from './invented.ts';
import { type Broken, type Judged, judge, quickly } from './judge.ts';
import { isEdge, isOfNothing, isPlain, type Proof } from './ops.ts';
import { wayTrainer } from './way-trainer.ts';

export interface WaysAsk {
  readonly candidate: Candidate;
  /** Of the candidate, in the dialogue. */
  readonly index: number;
  readonly proof: Proof;
  readonly ways: readonly Way[];
  readonly dialogue: Dialogue;
  readonly properties: readonly Property[];
  readonly signal: StopSignal;
}

export interface WaysJudged {
  readonly fit?: Fit | undefined;
  readonly open?: Open | undefined;
  readonly misfit?: Misfit | undefined;
  readonly near?: { readonly held: number; readonly judged: number } | undefined;
}

interface Holding {
  readonly way: Way;
  readonly judged: Judged;
}

interface Failing {
  readonly way: Way;
  readonly broken: Broken;
}

/** Other constants of a function that holds. */
const MOST_OTHERS = 8;

export async function judgeWays({
  candidate,
  index,
  proof,
  ways,
  dialogue,
  properties,
  signal,
}: WaysAsk): Promise<WaysJudged> {
  const { op } = proof;
  const property = properties.find(({ id }) => id === proof.property);
  const fits: Holding[] = [];
  const failing: Failing[] = [];
  let near: { held: number; judged: number } | undefined;
  let misfit: Misfit | undefined;
  for (const way of ways) {
    if (signal.aborted) break;
    const [first] = fits;
    // Names and behaviour agree on one: another order of arguments would have to hold against both.
    if (first?.way.agrees && dataOf(first.way) !== dataOf(way)) continue;
    // What holds on whole rows holds on their ends.
    if (fits.some(({ way: { call } }) => call === way.call)) continue;
    if (fits.length > MOST_OTHERS) break;
    const trainer = wayTrainer(op, way, dialogue);
    const broken = property === undefined ? undefined : await quickly(trainer, property);
    const mayBlame = way.agrees && fits.length === 0 && !isGuessed(way);
    if (broken !== undefined && !mayBlame) {
      failing.push({ way, broken });
      near ??= { held: 0, judged: 1 };
      continue;
    }
    const judged = ofItsOwn(way, await judge(trainer, op, proof, properties, { all: mayBlame, signal }));
    const against = judged.holds ? againstNames(candidate, way, judged.variant) : undefined;
    if (against !== undefined) {
      failing.push({ way, broken: against });
      // It says more than what another way of calling it breaks.
      misfit = { candidate, op, way, ...judged, tried: [], broken: [against, ...judged.broken] };
      continue;
    }
    if (judged.holds) {
      fits.push({ way, judged });
      continue;
    }
    const [worst] = judged.broken;
    // What is only asked about is no finding in a mode that nobody may train with.
    if (worst !== undefined && (judged.judged > 0 || way.switched)) failing.push({ way, broken: worst });
    if (judged.judged === 0) continue;
    // Right but for what no way of calling it can ask: the other ways, which break more, are no reason to blame it.
    if (hasOldOfItsOwn(op, way, judged)) return { near: { held: judged.held, judged: judged.judged } };
    if (near === undefined || share(judged) > share(near))
      near = { held: judged.held, judged: judged.judged };
    // The way that most holds of is the kindest to the function: what others break may be their assumptions' doing.
    if (mayBlame && worst !== undefined && (misfit === undefined || share(judged) > share(misfit)))
      misfit = { candidate, op, way, ...judged, tried: [] };
  }
  // Of several constants the formula that says most is shown first.
  const isNamed = fits[0]?.way.call.includes("'") === true;
  const [first, ...rest] = isNamed ? fits.sort((a, b) => plainness(op, a) - plainness(op, b)) : fits;
  if (first === undefined)
    return { near, misfit: misfit && { ...misfit, tried: otherAssumptions(misfit.way, failing) } };
  // Names say one order and behaviour another: that is a finding, and no binding.
  if (misfit !== undefined && !first.way.agrees)
    return { near, misfit: { ...misfit, instead: first.way.call } };
  const { held, judged } = first.judged;
  const settledAs = settled(candidate, op, first, rest, failing);
  if (settledAs.fit === undefined) return { near: { held, judged }, ...settledAs };
  const why = await unsaidShift(candidate, index, first.way, dialogue);
  if (why === undefined) return { near: { held, judged }, ...settledAs };
  const open = { candidate, op, ways: [first.way], variant: first.judged.variant, why };
  return { near: { held, judged }, open };
}

/** A count of nothing that we divide by is none of the function's edges. */
const ofItsOwn = ({ counts }: Way, judged: Judged): Judged =>
  counts.length === 0 ? judged : { ...judged, broken: judged.broken.filter((each) => !isOfNothing(each)) };

/** `logprobs.detach()` in the place of old_logprobs: the gradient is right, and the slope that is measured moves both. */
const hasOldOfItsOwn = (op: Op, { text }: Way, { broken }: Judged): boolean =>
  op === 'loss' &&
  !text.includes('old_logprobs') &&
  broken.every((each) => isEdge(each) || each.property === 'loss/weights-are-the-slope-of-the-loss');

function settled(
  candidate: Candidate,
  op: Op,
  { way, judged }: Holding,
  rest: readonly Holding[],
  failing: readonly Failing[],
): { readonly fit?: Fit; readonly open?: Open } {
  const { variant, weaker, notes, broken: flaws } = judged;
  if (!way.agrees && isPlain(op, variant)) return {};
  const strangers = rest.filter((other) => orderOf(other.way) !== orderOf(way));
  if (!way.agrees && strangers.length > 0) {
    const ways = [way, ...strangers.map((other) => other.way)];
    return { open: { candidate, op, ways, variant, why: 'more than one order of arguments holds' } };
  }
  const second = unnamedField(way, failing);
  if (second !== undefined) return { open: { candidate, op, ways: [way], variant, why: second } };
  const alike = otherCalls(way, rest).filter((other) => unnamedField(other.way, failing) === undefined);
  return {
    fit: {
      candidate,
      op,
      way: inLayout(candidate, way),
      variant,
      others: alike.map((other) => ({ call: other.way.call, variant: other.judged.variant })),
      failing: otherCalls(
        way,
        failing.filter((other) => !isGuessed(other.way)),
      ).map((other) => ({ call: other.way.call, broken: other.broken })),
      flaws,
      weaker,
      notes,
      judged: judged.judged,
    },
  };
}

/**
 * What is named as a field is read in every way. Of what has none, a person must say whether it is the field that it has the shape
 * of: then it is wrong.
 */
function unnamedField(way: Way, failing: readonly Failing[]): string | undefined {
  const isRead = (other: Way, field: string, part: string): boolean =>
    other.reads.some(([name, where]) => name === field && where === part);
  const fuller = failing.find(
    ({ way: other }) =>
      other.call === way.call &&
      other.header === way.header &&
      JSON.stringify(other.layout) === JSON.stringify(way.layout) &&
      other.reads.length > way.reads.length &&
      way.reads.every(([field, part]) => isRead(other, field, part)),
  );
  if (fuller === undefined) return undefined;
  const more = fuller.way.reads.filter(([field, part]) => !isRead(way, field, part));
  const said = more
    .map(([field, part]) => `whether ${part} of what it returns is \`${field}\``)
    .join(' and ');
  const { property, sentence } = fuller.broken;
  return `it holds, and no name says ${said}. If so, it is wrong: ${property}: ${sentence}`;
}

/** What the other ways assumed that it failed under as well, each once. */
function otherAssumptions(way: Way, failing: readonly Failing[]): string[] {
  const own = wordsOf(way);
  const texts = failing.map((each) => wordsOf(each.way)).filter((text) => text !== own && text !== '');
  return [...new Set(texts)];
}

const wordsOf = ({ assumes }: Way): string => assumes.join(', ');

/** Those that differ from it in a constant alone, each call once. */
function otherCalls<T extends { readonly way: Way }>(way: Way, others: readonly T[]): T[] {
  const alike = others.filter((other) => dataOf(other.way) === dataOf(way) && other.way.call !== way.call);
  return alike.filter(({ way: { call } }, at) => alike.findIndex((each) => each.way.call === call) === at);
}

/** Arrays of the completion alone: where no name says so, it is an assumption. */
function inLayout({ parameters, name, file }: Candidate, way: Way): Way {
  if (way.layout?.span !== 'completion') return way;
  const said = /response|completion|action|answer/i.test([name, file, ...parameters].join(' '));
  return said
    ? way
    : { ...way, assumes: [...way.assumes, 'arrays of the completion alone; on whole rows it does not hold'] };
}

/**
 * A function that is right only on shifted arguments is right where its callers shift. Where they do not, that is the bug of all
 * bugs, and no convention; a name such as `labels` says nothing of it.
 */
async function unsaidShift(
  { parameters }: Candidate,
  index: number,
  { shifted }: Way,
  dialogue: Dialogue,
): Promise<string | undefined> {
  if (shifted === null || parameters.some((each) => /shift/i.test(each))) return undefined;
  const said = await dialogue.callers(index, shifted);
  const { shifts, call } = 'ok' in said ? said.ok : { shifts: false, call: null };
  if (shifts) return undefined;
  return call === null
    ? 'it holds where it is handed shifted arguments, logits[:, :-1] beside ids[:, 1:]; nothing in these files, or beside them, calls it, and on whole rows it does not hold'
    : `it holds where it is handed shifted arguments, and this call does not look so: ${call}`;
}

/** Which data goes where, constants aside. */
const dataOf = (way: Way): string =>
  JSON.stringify([
    way.layout,
    way.arguments.filter(([, , data]) => data).map(([name, text]) => [name, text]),
  ]);

/** The same without what the caller counts: another count is another assumption, and no other order. */
const orderOf = (way: Way): string =>
  dataOf({ ...way, arguments: way.arguments.filter(([name]) => !way.counts.includes(name)) });

const plainness = (op: Op, { judged }: { readonly judged: Judged }): number =>
  Number(isPlain(op, judged.variant));
