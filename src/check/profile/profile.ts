// What a trainer does where trainers legally differ: every probe is put through it, and the ways that fit all cases
// remain. It blames nobody; items.ts compares what is left with what is declared.
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { FailureKind } from '../../trainer/failure.ts';
import type { Trainer } from '../../trainer/trainer.ts';
import type { ItemName, Semantics } from '../../vocabulary.ts';
import { inDtypeOf } from '../numbers.ts';
import type { Property, Subject, World } from '../property.ts';
import { worldOf } from '../run.ts';
import type { StopSignal } from '../stop.ts';
import { type CaseOutcome, runCase } from '../subject.ts';
import { type ItemRow, itemRows, valuesOf } from './items.ts';
import { type Misfit, missingOp, type Probe, type Variant } from './probe.ts';
import { PROBES } from './probes.ts';
import type { Probed, Reading } from './reading.ts';

export interface ProfileOptions {
  readonly trainer: Trainer;
  readonly tokenizer: Tokenizer | undefined;
  /** From the configuration; merged over what hello declares. */
  readonly semantics?: Semantics;
  /** Drawn cases a probe, besides those made by hand. */
  readonly drawn?: number;
  /** Only probes that measure one of these, and those that they build on. Default: all. */
  readonly items?: ReadonlySet<ItemName>;
  /** Build on what is declared rather than on what was measured: what is checked is the declaration. */
  readonly trustDeclared?: boolean;
  /** End with the first crash or hang: a run is to follow, and it is better at telling of them. */
  readonly onlyWhileAlive?: boolean;
  readonly signal?: StopSignal;
}

export interface Profile {
  readonly declared: Semantics;
  readonly items: readonly ItemRow[];
  /** Items on whose value all that fits agrees. */
  readonly measured: Semantics;
  readonly probes: readonly Probed[];
}

/** Enough that no two ways agree on all by chance; one probe stays within 50 requests. */
const DRAWN = 12;

/** Failures after which the process still answers. */
const ANSWERED: ReadonlySet<FailureKind> = new Set(['error', 'shape']);

/** Asks only; the trainer is left running. */
export async function profileTrainer(options: ProfileOptions): Promise<Profile> {
  const world = worldOf(options.trainer, options.tokenizer, options.semantics);
  const declared = world.semantics;
  const probed: Probed[] = [];
  for (const probe of PROBES) {
    if (options.signal?.aborted) break;
    const { items: only } = options;
    if (only !== undefined && ![...probe.items, ...(probe.confirms ?? [])].some((item) => only.has(item)))
      continue;
    const found = measuredBy(probed);
    const semantics = options.trustDeclared ? { ...found, ...declared } : { ...declared, ...found };
    const reading = await read(probe, options, inDtypeOf({ ...world, semantics }, probe.ops));
    probed.push({ probe, reading });
    if (options.onlyWhileAlive && reading.state === 'failed' && !ANSWERED.has(reading.kind)) break;
  }
  const measured = measuredBy(probed);
  return { declared, items: itemRows(declared, world.hello.ops, probed), measured, probes: probed };
}

/** Items that every probe of them leaves exactly one value. */
function measuredBy(probed: readonly Probed[]): Semantics {
  const items = new Set(probed.flatMap(({ probe }) => probe.items));
  const entries = [...items].flatMap((item) => {
    const values = valuesOf(item, probed);
    return values?.length === 1 ? [[item, values[0]]] : [];
  });
  return Object.fromEntries(entries) as Semantics;
}

async function read(probe: Probe, options: ProfileOptions, world: World): Promise<Reading> {
  const missing = missingOp(probe, world.hello.ops);
  if (missing !== undefined) return { state: 'silent', why: `op \`${missing}\` is not offered` };
  const lack = probe.lack?.(world);
  if (lack !== undefined) return { state: 'silent', why: lack };
  const asked = await attempt(options.trainer, world, (subject) => probe.variants(subject));
  if ('why' in asked) return asked;
  const variants = asked.value;
  const tallies = variants.map((variant): Tally => ({ variant, cases: 0 }));
  let told = 0;
  let silence: Extract<Reading, { state: 'silent' }> = { state: 'silent', why: 'no case told anything' };
  for (const given of probe.cases(world, options.drawn ?? DRAWN)) {
    if (options.signal?.aborted) return { state: 'silent', why: INTERRUPTED };
    const fits = await attempt(options.trainer, world, (subject) => probe.fits(subject, given, variants));
    if ('why' in fits) {
      if (fits.state === 'failed') return fits;
      silence = fits;
      continue;
    }
    told++;
    fits.value.forEach((misfit, at) => {
      const tally = tallies[at];
      if (misfit === undefined || tally === undefined) return;
      tally.cases++;
      if (misfit.off > (tally.worst?.off ?? 0)) tally.worst = misfit;
    });
  }
  return told === 0 ? silence : verdict(tallies);
}

interface Tally {
  readonly variant: Variant;
  /** Cases that it does not fit. */
  cases: number;
  worst?: Misfit;
}

function verdict(tallies: readonly Tally[]): Reading {
  const remaining = tallies.filter(({ cases }) => cases === 0).map(({ variant }) => variant);
  if (remaining.length > 0) return { state: 'fits', remaining };
  const [closest] = [...tallies].sort(
    (a, b) => a.cases - b.cases || (a.worst?.off ?? 0) - (b.worst?.off ?? 0),
  );
  if (closest?.worst === undefined) return { state: 'silent', why: 'no way of doing it is known' };
  return { state: 'unknown', closest: closest.variant, misfit: closest.worst };
}

/** Runs `work` as the check of a property that is nobody's, for its handling of what trainers do. */
async function attempt<T>(
  trainer: Trainer,
  world: World,
  work: (subject: Subject) => Promise<T>,
): Promise<{ readonly value: T } | Extract<Reading, { why: string }>> {
  const done: { value: T }[] = [];
  const shell: Property<undefined> = {
    ...SHELL,
    async check(subject) {
      done.push({ value: await work(subject) });
      return undefined;
    },
  };
  // A reading that throws on an odd answer is no measure; the properties say what is odd about it.
  const outcome = await runCase(shell, trainer, world, undefined).catch(
    (error: unknown): CaseOutcome => ({ kind: 'refused', why: `its answer could not be read (${error})` }),
  );
  const [value] = done;
  if (outcome.kind === 'error') {
    const { message, kind } = outcome.failure;
    return { state: 'failed', why: message, kind };
  }
  if (outcome.kind === 'stopped') return { state: 'silent', why: INTERRUPTED };
  if (outcome.kind === 'refused') return { state: 'silent', why: outcome.why };
  return value ?? { state: 'silent', why: 'no answer' };
}

const INTERRUPTED = 'the profile was interrupted';

const SHELL: Omit<Property<undefined>, 'check'> = {
  id: 'profile',
  title: 'A probe',
  stage: 'contract',
  level: 'may',
  why: '',
  catches: [],
  ops: [],
  given: () => {
    throw new Error('A probe has cases of its own.');
  },
};
