// Prompts, completions and last tokens that were sampled for a step and have no part in it. Equal rewards, filters and limits do so by right, so
// that it is told and never fails; a prompt behind which nothing was sampled is asked about.
import { type Generation, type Ledger, type LedgerNotice, type LedgerRow, many } from '../../../src/index.ts';
import { trainedAgain } from '../input/again.ts';
import { keyOf, startsWith } from '../input/kin.ts';
import { trainsPolicy } from '../input/policy.ts';
import { placeOf } from '../words.ts';
import { isSampled, trainsAny } from './trained.ts';

export function unweighedNotices(ledger: Ledger): readonly LedgerNotice[] {
  if (!trainsPolicy(ledger)) return [];
  const empty = ledger.generations.filter(
    ({ completionIds, open }) => completionIds.length === 0 && open !== true,
  );
  return [
    ...(empty.length === 0 ? [] : [emptyNotice(empty)]),
    ...cutNotice(ledger),
    ...againNotice(ledger),
    ...(isStepByStep(ledger) ? stepsOf(ledger).flatMap(noticeOf).slice(0, 1) : []),
  ];
}

// --- helpers ---

function emptyNotice(empty: readonly Generation[]): LedgerNotice {
  const lengths = empty.map(({ promptIds }) => promptIds.length);
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
  return {
    sentence: `Nothing was sampled after ${many(empty.length, 'prompt')} of ${least === most ? least : `${least} to ${most}`} tokens (step ${empty[0]?.step}): the completion is empty. A limit on prompt and completion together does that to a long prompt.`,
    answers: [],
  };
}

/** Rows that end before what was sampled for them does, all by as many tokens: a limit cuts so, and a column too few as well. */
function cutNotice(ledger: Ledger): LedgerNotice[] {
  const sampled = ledger.rows.filter((row) => isSampled(row) && trainsAny(row));
  const lost = sampled.map((row) => lostOf(ledger, row)).filter((count) => count > 0);
  if (lost.length < LEAST_CUT || new Set(lost).size > 1) return [];
  const [count = 0] = lost;
  return [
    {
      sentence: `${many(lost.length, 'trained row')} of ${sampled.length} ${lost.length === 1 ? 'ends' : 'end'} ${many(count, 'token')} before the completion that was sampled for ${lost.length === 1 ? 'it' : 'each'}. Right where a limit cuts rows; else they are cut at the wrong column.`,
      answers: [],
      remark: true,
    },
  ];
}

/** One row may have come to a limit. */
const LEAST_CUT = 2;

/** Sampled tokens behind the row's last one. */
function lostOf({ generations }: Ledger, { ids, real, spans }: LedgerRow): number {
  const { origin, completions } = spans;
  const own = origin.kind === 'generation' ? generations[origin.generations.at(-1) ?? -1] : undefined;
  const last = completions.at(-1);
  if (own === undefined || last === undefined || own.unsure !== undefined || last.stop !== undefined)
    return 0;
  const held = ids.slice(last.from, last.to);
  const ends = last.to === real.lastIndexOf(true) + 1;
  return ends && startsWith(own.completionIds, held) ? own.completionIds.length - held.length : 0;
}

/** Every row is trained in the step that it was sampled for: what has no row there never gets one. */
function isStepByStep({ rows, generations }: Ledger): boolean {
  return rows
    .filter(({ reached }) => reached)
    .every(
      ({ step, spans: { origin } }) =>
        origin.kind === 'generation' && origin.generations.every((at) => generations[at]?.step === step),
    );
}

/** More rows hold a completion, with the same weights, than it was sampled. Rows of a memory are drawn twice by right. */
function againNotice(ledger: Ledger): LedgerNotice[] {
  const again = trainedAgain(ledger).filter(
    ([row, ...others]) => row !== undefined && others.length >= samplesOf(ledger, row),
  );
  const [first] = again;
  const [row, other] = first ?? [];
  if (first === undefined || row === undefined || other === undefined) return [];
  const own = again.filter((each) => each[0]?.step === row.step).length;
  return [
    {
      sentence: `${many(own, 'completion')} of step ${row.step} ${own === 1 ? 'is' : 'are'} trained ${first.length} times in that step, with the same weights (${placeOf(ledger, row)} is ${placeOf(ledger, other)}). Several epochs need an optimiser step between them; a loop that takes the same micro-batch again, or parts that overlap, do this by mistake.`,
      answers: [],
      asked: true,
    },
  ];
}

/** How often its completions were sampled for its step; Infinity: rows of other steps are trained in it, too. */
function samplesOf({ rows, generations }: Ledger, { step, rank, spans }: LedgerRow): number {
  const isFresh = ({ spans: { origin } }: LedgerRow): boolean =>
    origin.kind === 'generation' && origin.generations.every((at) => generations[at]?.step === step);
  if (!rows.every((row) => row.step !== step || row.rank !== rank || !row.reached || isFresh(row)))
    return Number.POSITIVE_INFINITY;
  const of = spans.origin.kind === 'generation' ? spans.origin.generations : [];
  const keys = of.map((at) => keyIn(generations[at]));
  return Math.min(...keys.map((key) => generations.filter((each) => keyIn(each) === key).length));
}

type Prompt = readonly { readonly rows: readonly LedgerRow[]; readonly weighs: boolean }[];

/** Of each step that was made: its prompts, and of each completion to one the rows that hold it. */
function stepsOf(ledger: Ledger): { readonly step: number; readonly prompts: readonly Prompt[] }[] {
  const rows = new Map<string, LedgerRow[]>();
  for (const row of ledger.rows.filter(isSampled)) {
    const { origin } = row.spans;
    for (const at of origin.kind === 'generation' ? origin.generations : []) {
      const key = keyIn(ledger.generations[at]);
      rows.set(key, [...(rows.get(key) ?? []), row]);
    }
  }
  return ledger.steps
    .filter(({ ranks }) => ranks.every(({ done }) => done !== undefined && done.skipped !== true))
    .map(({ index }) => {
      const prompts = new Map<string, Prompt[number][]>();
      for (const each of ledger.generations.filter(({ step }) => step === index)) {
        const own = rows.get(keyIn(each)) ?? [];
        const key = keyOf(each.promptIds);
        const said = { rows: own, weighs: own.some(trainsAny) };
        prompts.set(key, [...(prompts.get(key) ?? []), said]);
      }
      return { step: index, prompts: [...prompts.values()] };
    });
}

const keyIn = (each: Generation | undefined): string =>
  each === undefined ? '' : `${each.step}: ${keyOf([...each.promptIds, -1, ...each.completionIds])}`;

function noticeOf({ step, prompts }: ReturnType<typeof stepsOf>[number]): LedgerNotice[] {
  const all = prompts.flat();
  const lost = prompts.filter((each) => each.every(({ rows }) => rows.length === 0)).length;
  const silent = prompts.filter((each) => each.every(({ weighs }) => !weighs)).length - lost;
  const single = prompts
    .filter((each) => each.some(({ weighs }) => weighs))
    .flatMap((each) => each.filter(({ weighs }) => !weighs)).length;
  // Of a step that trains none of its samples other rules speak.
  if (lost + silent + single === 0 || !all.some(({ weighs }) => weighs)) return [];
  const of = `of the ${many(prompts.length, 'prompt')} that were sampled for step ${step}`;
  const told = [
    ...(lost === 0 ? [] : [`${lost} ${of} ${lost === 1 ? 'stands' : 'stand'} in no trained row`]),
    ...(silent === 0 ? [] : [`${silent} ${of} ${silent === 1 ? 'has' : 'have'} no completion with a weight`]),
    ...(single === 0
      ? []
      : [
          `${single} of ${many(all.length, 'completion')} ${single === 1 ? 'has' : 'have'} no weight, though others to the same prompt have`,
        ]),
  ];
  return [
    {
      sentence: `${told.join('; ')}. Right where rewards are equal or at their mean, where completions are filtered or cut, or where samples are only measured; else a part of the batch is lost.`,
      answers: [],
      remark: true,
    },
  ];
}
