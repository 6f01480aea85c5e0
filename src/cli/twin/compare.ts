// Which runs a twin needs, in which order, and what is compared with what.
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { Change } from '../../twin/changes.ts';
import { distancesOf, type StepDistance } from '../../twin/distance.ts';
import type { TwinRun } from '../../twin/run.ts';
import type { TwinResult } from '../../twin/twin.ts';
import { type Outcome, outcomeOf } from '../../twin/verdict.ts';
import type { Context, Problem } from '../context.ts';
import { type Ran, type RunAsk, runTwin } from './runs.ts';

export interface Asked {
  readonly command: readonly string[];
  readonly folder: string;
  readonly steps: number;
  readonly changes: readonly Change[];
  /** The user named the changes: one that cannot be made is said. */
  readonly named: boolean;
  readonly pair?: readonly string[];
  readonly resume?: { readonly save: readonly string[]; readonly go: readonly string[] };
}

export interface Telling {
  readonly begins: (name: string) => void;
  readonly done: (result: TwinResult, tokenizer: Tokenizer | undefined) => void;
}

/** Tells of each comparison when it is there. A problem: the script itself cannot be run. */
export async function twins(
  asked: Asked,
  context: Context,
  telling: Telling,
): Promise<Problem | 'interrupted' | undefined> {
  const { folder, command, steps } = asked;
  const run = (ask: Pick<RunAsk, 'name'> & Partial<RunAsk>): ReturnType<typeof runTwin> => {
    telling.begins(ask.name);
    return runTwin({ folder, command, steps, ...ask }, context);
  };
  // A resumed run is compared with the steps that follow those of the run that was saved.
  const saved =
    asked.resume === undefined
      ? undefined
      : await run({ name: 'saved', steps: 0, command: [...command, ...asked.resume.save] });
  if (saved === 'interrupted' || (saved !== undefined && 'problem' in saved)) return saved;
  if (saved?.failure !== undefined)
    return { problem: `the run that saves failed by itself: ${saved.failure}` };
  const skipped = saved?.run.steps.filter(({ made }) => made).length ?? 0;
  const bases = new Map<boolean, Base>();
  const baseOf = async (dropout: boolean): Promise<Base | Problem | 'interrupted'> => {
    const known = bases.get(dropout);
    if (known !== undefined) return known;
    const name = dropout ? 'base' : 'base-without-dropout';
    const first = await run({ name, dropout, steps: steps + skipped });
    if (first === 'interrupted' || 'problem' in first) return first;
    if (first.failure !== undefined && first.run.steps.length === 0)
      return { problem: `the script failed by itself: ${first.failure}` };
    const noisy = await run({ name: `${name}-rounding`, dropout, noise: true, steps: steps + skipped });
    if (noisy === 'interrupted' || 'problem' in noisy) return noisy;
    const base = { run: first.run, noise: distancesOf(first.run, noisy.run).slice(skipped) };
    bases.set(dropout, base);
    // What has no dropout is the same without it.
    if (first.run.dropout === 0) bases.set(!dropout, base);
    return base;
  };
  const plain = await baseOf(true);
  if (plain === 'interrupted' || 'problem' in plain) return plain;
  const { tokenizer } = plain.run.ledger;
  const tell = (result: TwinResult): void => telling.done(result, tokenizer);

  for (const change of asked.changes) {
    const lack = lackOf(change, plain.run);
    if (lack !== undefined) {
      if (asked.named) tell({ ...said(change), outcome: { kind: 'untold', why: lack } });
      continue;
    }
    const base = await baseOf(change.withoutDropout !== true);
    if (base === 'interrupted' || 'problem' in base) return base;
    const words = change.command === undefined ? command : change.command(command);
    if (words === undefined) {
      if (asked.named) tell({ ...said(change), outcome: { kind: 'untold', why: change.lacks } });
      continue;
    }
    const other = await run({
      name: change.name,
      command: words,
      dropout: change.withoutDropout !== true,
      ...(change.name === 'repeat' ? {} : { change: change.name }),
    });
    if (other === 'interrupted' || 'problem' in other) return other;
    if (change.name !== 'repeat' && !other.run.applied && other.failure === undefined) {
      if (asked.named) tell({ ...said(change), outcome: { kind: 'untold', why: change.lacks } });
      continue;
    }
    const outcome = comparedOf(base, other, change.name === 'repeat');
    tell({ ...said(change), outcome });
    if (change.name === 'repeat' && outcome.kind === 'parts')
      return { problem: 'the script is not the same twice, so that nothing else can be compared with it' };
  }
  if (asked.pair !== undefined) {
    const other = await run({ name: 'pair', command: asked.pair });
    if (other === 'interrupted' || 'problem' in other) return other;
    tell({ name: 'pair', sentence: 'the second command', outcome: comparedOf(plain, other, false) });
  }
  if (asked.resume !== undefined) {
    const other = await run({ name: 'resumed', command: [...command, ...asked.resume.go] });
    if (other === 'interrupted' || 'problem' in other) return other;
    const base = { ...plain, run: after(plain.run, skipped) };
    tell({
      name: 'resume',
      sentence: `the run goes on from a checkpoint after ${skipped} steps`,
      outcome: comparedOf(base, other, false),
    });
  }
  return undefined;
}

// --- helpers ---

interface Base {
  readonly run: TwinRun;
  readonly noise: readonly StepDistance[];
}

const said = ({ name, sentence }: Change): Pick<TwinResult, 'name' | 'sentence'> => ({ name, sentence });

/** What is known before it is run to be of no use; undefined: nothing. */
function lackOf({ name, lacks }: Change, { ledger, hasArguments }: TwinRun): string | undefined {
  const ofArguments = name === 'accumulation' || name === 'ranks';
  if (ofArguments && !hasArguments) return lacks;
  const ofBatches = name === 'batch-order' || name === 'padding';
  if (ofBatches && ledger.rows.every(({ batch }) => batch === undefined)) return lacks;
  return undefined;
}

function comparedOf(base: Base, { run, failure }: Ran, isRepeat: boolean): Outcome {
  const distances = distancesOf(base.run, run);
  if (distances.length === 0)
    return {
      kind: 'untold',
      why:
        failure === undefined
          ? 'no optimiser step of a language model was made in both runs'
          : `the script failed with the change: ${failure}`,
    };
  const outcome = outcomeOf(distances, base.noise);
  if (outcome.kind !== 'parts' || isRepeat || outcome.difference.what !== 'rows' || !base.run.samples)
    return outcome;
  return {
    kind: 'untold',
    why: 'the script samples tokens, and with the change it samples others: there is no row that both runs train',
  };
}

/** The steps from the `count`th on, as a run of their own. */
function after(run: TwinRun, count: number): TwinRun {
  const before = run.steps[count - 1]?.after;
  const [first, ...rest] = run.steps.slice(count);
  if (first === undefined) return { ...run, steps: [] };
  return { ...run, steps: [{ ...first, ...(before === undefined ? {} : { before }) }, ...rest] };
}
