// What a check is handed: a trainer that only ever gives good answers. Anything else ends the case by a throw
// that the engine turns back into a value; and what was asked is remembered, to be replayed without the harness.
import { models } from '../checkpoints/models.ts';
import { clipped } from '../outside/text.ts';
import type { Args, Op } from '../protocol/message.ts';
import type { TrainerFailure } from '../trainer/failure.ts';
import type { How, Trainer } from '../trainer/trainer.ts';
import { rowKernel } from './kernel.ts';
import { inDtypeOf } from './numbers.ts';
import type { Finding, Property, Subject, World } from './property.ts';

/** The end of one case. */
export type CaseOutcome =
  | { readonly kind: 'holds' }
  | { readonly kind: 'fails'; readonly finding: Finding }
  /** The trainer refused the case; or, `setAside`, the check did, because it can say nothing, and whose doing that is. */
  | { readonly kind: 'refused'; readonly why: string; readonly setAside?: Doing }
  | { readonly kind: 'error'; readonly failure: TrainerFailure }
  /** The run was ended before the trainer answered. */
  | { readonly kind: 'stopped' };

/**
 * Why a check has nothing to say: the `case` is of no use to its rule, which is the generator's business; or this
 * `trainer` leaves nothing to judge, by its template, its precision, or what it does not answer.
 */
export type Doing = 'case' | 'trainer';

/** Control flow inside one case, never seen outside this file. */
class CaseEnds extends Error {
  readonly outcome: CaseOutcome;
  constructor(outcome: CaseOutcome) {
    super('the case ends here');
    this.outcome = outcome;
  }
}

/** What `work` says of a case outside of its check, or `instead` where it ends the case: labels come from what the check uses. */
export function unlessDiscarded<T>(work: () => T, instead: T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CaseEnds) return instead;
    throw error;
  }
}

/** What `work` comes to, or `instead` where the trainer's answer, or what is made of it, ends the case. */
export async function unlessEnded<T>(work: () => Promise<T>, instead: T): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof CaseEnds) return instead;
    throw thrown;
  }
}

/**
 * Ends a case that says nothing about the property, with the reason. It counts as set aside, not as a pass. Where that
 * is more than half of the cases, the property is thin, and skipped where it is the trainer's doing.
 */
export function discard(why: string, doing: Doing = 'case'): never {
  throw new CaseEnds({ kind: 'refused', why, setAside: doing });
}

/** Whether this gets through without setting its case aside. */
export function isOfUse(run: () => boolean): boolean {
  try {
    return run();
  } catch (thrown) {
    return !(thrown instanceof CaseEnds);
  }
}

/**
 * What is wrong with the first of these parts of a case. A part that says nothing leaves the others to be judged; where all
 * of them do, the case is set aside.
 */
export async function firstFinding(
  parts: readonly (() => Promise<Finding | undefined>)[],
): Promise<Finding | undefined> {
  let silent: CaseEnds | undefined;
  let judged = 0;
  for (const part of parts) {
    try {
      const finding = await part();
      if (finding !== undefined) return finding;
      judged++;
    } catch (thrown) {
      if (!(thrown instanceof CaseEnds) || thrown.outcome.kind !== 'refused') throw thrown;
      silent ??= thrown;
    }
  }
  if (judged === 0 && silent !== undefined) throw silent;
  return undefined;
}

/** Runs one case. `asked` receives the request lines where they are wanted. */
export async function runCase<Case>(
  property: Property<Case>,
  trainer: Trainer,
  world: World,
  given: Case,
  asked?: string[],
): Promise<CaseOutcome> {
  const answer = async <O extends Op>(op: O, args: Args<O>, how?: How) => {
    const { max_length: most = Infinity } = world.hello;
    if (most < longestRow(args))
      discard(`a row is longer than the trainer takes (max_length ${most})`, 'trainer');
    asked?.push(trainer.line(op, args));
    const outcome = await trainer.ask(op, args, how);
    if (outcome.kind === 'ok') return { ok: outcome.ok, written: outcome.written ?? [] };
    if (outcome.kind !== 'failure') return { refused: outcome.why };
    return { refused: outcome.failure.message, failure: outcome.failure };
  };
  const asking = (how?: How): Pick<Subject, 'ask' | 'attempt'> => ({
    async ask(op, args) {
      const outcome = await answer(op, args, how);
      if ('ok' in outcome) return outcome.ok;
      if (outcome.failure !== undefined) throw new CaseEnds(troubled(outcome.failure));
      throw new CaseEnds({ kind: 'refused', why: outcome.refused });
    },
    async attempt(op, args) {
      const outcome = await answer(op, args, how);
      // A process that died or hangs has refused nothing.
      if ('failure' in outcome && outcome.failure !== undefined && outcome.failure.kind !== 'error')
        throw new CaseEnds(troubled(outcome.failure));
      return outcome;
    },
  });
  const subject: Subject = {
    ...inDtypeOf(world, property.ops),
    models,
    kernel: rowKernel,
    ...asking(),
    anew: asking({ anew: true }),
  };
  try {
    const finding = await property.check(subject, given);
    if (finding === undefined) return { kind: 'holds' };
    return { kind: 'fails', finding: { ...finding, sentence: clipped(finding.sentence, MOST_SENTENCE) } };
  } catch (thrown) {
    if (thrown instanceof CaseEnds) return thrown.outcome;
    const what = thrown instanceof Error ? thrown.message : String(thrown);
    throw new Error(`${property.id} itself failed on ${JSON.stringify(given)}: ${what}`, { cause: thrown });
  }
}

/** In characters. A sentence quotes rows, and an answer may have rows of hundreds of thousands of tokens. */
const MOST_SENTENCE = 8_000;

/** Of the rows of tokens that a request holds, padding among them; those of text are not counted. */
function longestRow(args: Readonly<Record<string, unknown>>): number {
  const widest = (name: string): number => {
    const rows = args[name];
    if (!Array.isArray(rows)) return 0;
    return rows.reduce((most, row) => Math.max(most, Array.isArray(row) ? row.length : 0), 0);
  };
  const prompt = Math.max(widest('prompt_ids'), flat(args.prompt_ids));
  const behind = Math.max(...BEHIND.map(widest), flat((args.turns as Turns)?.flatMap(({ ids }) => ids)));
  return Math.max(prompt + behind, ...WHOLE.map(widest));
}

type Turns = readonly { readonly ids: readonly number[] }[] | undefined;
const flat = (ids: unknown): number => (Array.isArray(ids) && !Array.isArray(ids[0]) ? ids.length : 0);
/** Fields of rows that follow a prompt, and of whole rows. */
const BEHIND = ['completion_ids', 'chosen_ids', 'rejected_ids'];
const WHOLE = ['input_ids', 'sequences', 'completion_mask'];

function troubled(failure: TrainerFailure): CaseOutcome {
  return failure.kind === 'stopped' ? { kind: 'stopped' } : { kind: 'error', failure };
}

/** Two outcomes are the same trouble when their kinds agree; while shrinking nothing else counts. */
export function troubleOf(outcome: CaseOutcome): string | undefined {
  if (outcome.kind === 'fails') return `fails ${outcome.finding.kind}`;
  if (outcome.kind === 'error') return `error ${outcome.failure.kind}`;
  return undefined;
}

/**
 * What a case in trouble is a case of: the same kind of trouble on the same route, where its cases have one. A property
 * shows one counterexample of each.
 */
export function causeOf(given: unknown, outcome: CaseOutcome): string | undefined {
  const trouble = troubleOf(outcome);
  if (trouble === undefined) return undefined;
  const route = (given as { readonly route?: unknown } | null)?.route;
  return typeof route === 'string' ? `${trouble} on route ${route}` : trouble;
}
