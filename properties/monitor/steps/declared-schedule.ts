// The schedule of the learning rate that a run declares, under the names that trainers use.
import type { RuleWorld } from '../../../src/index.ts';
import { declaredNumber, declaredText } from '../world.ts';
import { ENDLESS, KNOWN, type Schedule } from './schedules.ts';

/** Names that belong together: those of one trainer say nothing beside those of another. */
interface Dialect {
  readonly kind: readonly string[];
  readonly peak: readonly string[];
  readonly steps: readonly string[];
  readonly warmup: readonly string[];
  readonly share: readonly string[];
  /** `constant` warms up as well. */
  readonly warms?: true;
  readonly stays?: true;
}

const below = (folder: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `${folder}.${name}`);

/** verl's actor; the same settings are nested under the names of its configuration. */
const VERL = 'actor_rollout_ref.actor.optim';

const DIALECTS: readonly Dialect[] = [
  {
    kind: ['lr_scheduler_type'],
    peak: ['learning_rate'],
    steps: ['max_steps'],
    warmup: ['warmup_steps'],
    share: ['warmup_ratio'],
  },
  {
    kind: below(VERL, 'lr_scheduler_type', 'warmup_style'),
    peak: below(VERL, 'lr'),
    steps: [...below(VERL, 'total_training_steps'), 'trainer.total_training_steps'],
    warmup: below(VERL, 'lr_warmup_steps'),
    share: below(VERL, 'lr_warmup_steps_ratio'),
    warms: true,
  },
  // Megatron.
  {
    kind: ['lr_decay_style'],
    peak: ['lr'],
    steps: ['lr_decay_iters', 'train_iters'],
    warmup: ['lr_warmup_iters'],
    share: ['lr_warmup_fraction'],
    warms: true,
    stays: true,
  },
];

/** What is declared of the schedule; undefined where something is missing that it depends on. */
export function scheduleOf(world: RuleWorld): Schedule | undefined {
  // What a scheduler is handed beyond its usual arguments changes the curve: some of it is known, the rest is not read.
  const extra = declaredText(world, 'lr_scheduler_kwargs');
  if (extra !== undefined && !/^(?:\{\}|null|None)$/.test(extra)) return undefined;
  if (UNKNOWN_ARGUMENTS.some((name) => declaredText(world, `lr_scheduler_kwargs.${name}`) !== undefined))
    return undefined;
  for (const dialect of DIALECTS) {
    const schedule = scheduleIn(world, dialect);
    if (schedule !== undefined) return schedule;
  }
  return undefined;
}

/** As the run calls the rate that its schedule begins to fall from. */
export function nameOfPeak(world: RuleWorld): string {
  const own = DIALECTS.find((dialect) => scheduleIn(world, dialect) !== undefined) ?? DIALECTS[0];
  return own?.peak[0] ?? 'learning_rate';
}

function scheduleIn(world: RuleWorld, dialect: Dialect): Schedule | undefined {
  const said = declaredText(world, ...dialect.kind)
    ?.toLowerCase()
    .replace(/^schedulertype\./, '');
  const kind = said === 'constant' && dialect.warms === true ? 'constant_with_warmup' : said;
  const peak = declaredNumber(world, ...dialect.peak);
  if (kind === undefined || !KNOWN.includes(kind) || peak === undefined || peak <= 0) return undefined;
  const steps = dialect.steps.map((name) => declaredNumber(world, name) ?? 0).find((each) => each > 0);
  const warmup = warmupOf(world, dialect, steps);
  if (warmup === undefined || (steps === undefined && !ENDLESS.includes(kind))) return undefined;
  return {
    kind,
    peak,
    warmup,
    steps: steps ?? Number.POSITIVE_INFINITY,
    cycles: declaredNumber(world, 'lr_scheduler_kwargs.num_cycles', `${VERL}.num_cycles`),
    power: declaredNumber(world, 'lr_scheduler_kwargs.power'),
    end: declaredNumber(world, 'lr_scheduler_kwargs.lr_end'),
    floor: floorOf(world, peak),
    stays: dialect.stays === true,
  };
}

const UNKNOWN_ARGUMENTS = ['timescale', 'last_epoch', 'num_decay_steps'] as const;

/** As trainers call the rate at which a decay ends, and the share of the peak. */
const FLOORS = ['min_lr', 'min_learning_rate', 'lr_min', 'eta_min', 'final_lr'] as const;
const FLOOR_SHARES = [
  'min_lr_rate',
  'min_lr_ratio',
  'lr_min_ratio',
  'cosine_min_lr_ratio',
  'final_lr_ratio',
] as const;

/** The declared floor; undefined where none is declared, or one that is no floor of this peak. */
function floorOf(world: RuleWorld, peak: number): number | undefined {
  const own = declaredNumber(world, ...inArguments(FLOORS));
  const share = declaredNumber(world, ...inArguments(FLOOR_SHARES));
  const floor = own ?? (share === undefined ? undefined : share * peak);
  return floor !== undefined && floor >= 0 && floor < peak ? floor : undefined;
}

const inArguments = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => [name, `lr_scheduler_kwargs.${name}`, `${VERL}.${name}`]);

/** Steps; a number below 1, or a share, is a part of all steps, rounded up. */
function warmupOf(world: RuleWorld, dialect: Dialect, steps: number | undefined): number | undefined {
  const own = declaredNumber(world, ...dialect.warmup) ?? 0;
  if (own >= 1) return Math.floor(own);
  const share = own > 0 ? own : (declaredNumber(world, ...dialect.share) ?? 0);
  if (share <= 0) return 0;
  return steps === undefined ? undefined : Math.ceil(steps * share);
}
