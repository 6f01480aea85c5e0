// The schedule of the learning rate that a run declares, under the names that trainers use.
import type { RuleWorld } from '../../../src/index.ts';
import { declaredNumber, declaredText } from '../world.ts';
import { ENDLESS, KNOWN, type Schedule } from './schedules.ts';

/** What is declared of the schedule; undefined where something is missing that it depends on. */
export function scheduleOf(world: RuleWorld): Schedule | undefined {
  const kind = declaredText(world, 'lr_scheduler_type')
    ?.toLowerCase()
    .replace(/^schedulertype\./, '');
  const peak = declaredNumber(world, 'learning_rate');
  if (kind === undefined || !KNOWN.includes(kind) || peak === undefined || peak <= 0) return undefined;
  // What a scheduler is handed beyond its usual arguments changes the curve: some of it is known, the rest is not read.
  const extra = declaredText(world, 'lr_scheduler_kwargs');
  if (extra !== undefined && !/^(?:\{\}|null|None)$/.test(extra)) return undefined;
  if (UNKNOWN_ARGUMENTS.some((name) => declaredText(world, `lr_scheduler_kwargs.${name}`) !== undefined))
    return undefined;
  const steps = declaredNumber(world, 'max_steps');
  const known = steps !== undefined && steps > 0;
  const warmup = warmupOf(world, known ? steps : undefined);
  if (warmup === undefined || (!known && !ENDLESS.includes(kind))) return undefined;
  return {
    kind,
    peak,
    warmup,
    steps: known ? steps : Number.POSITIVE_INFINITY,
    cycles: declaredNumber(world, 'lr_scheduler_kwargs.num_cycles'),
    power: declaredNumber(world, 'lr_scheduler_kwargs.power'),
    end: declaredNumber(world, 'lr_scheduler_kwargs.lr_end'),
    floor: floorOf(world, peak),
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
  names.flatMap((name) => [name, `lr_scheduler_kwargs.${name}`]);

/** Steps; a number below 1, or `warmup_ratio`, is a share of all steps, rounded up. */
function warmupOf(world: RuleWorld, steps: number | undefined): number | undefined {
  const own = declaredNumber(world, 'warmup_steps') ?? 0;
  if (own >= 1) return Math.floor(own);
  const share = own > 0 ? own : (declaredNumber(world, 'warmup_ratio') ?? 0);
  if (share <= 0) return 0;
  return steps === undefined ? undefined : Math.ceil(steps * share);
}
