// Losses and rewards whose parts are logged beside them, with the weights that the run declares.
import type { MonitorRule, RuleWorld, Series, Violation, Watch } from '../../../src/index.ts';
import { COEFFICIENTS } from '../policy/kl-coefficient.ts';
import { read } from '../watches.ts';
import { declaredNumber, declaredText } from '../world.ts';
import { type Part, sumOf, type Verdict, type Whole } from './sums.ts';

export const lossAddsUp: MonitorRule = {
  id: 'monitor/loss-adds-up',
  title: 'A KL has the weight in the loss that the run declares',
  stage: 'monitor',
  level: 'should',
  why: 'A term that is added with another sign or weight than was chosen is optimised all the same: a KL that is subtracted is rewarded, and the policy leaves its reference.',
  catches: ['KL-01', 'KL-09'],
  advice:
    'Follow the KL from its estimate to the sum that goes into `backward`: its sign, its coefficient, and what both are divided by.',
  roles: [],
  settings: {
    tolerance: {
      default: 0.05,
      what: 'Share of the declared coefficient. The rule judges a loss that is the sum of its logged parts at each step, to the last digit, with the declared weights except that of the KL. That weight is one number at all steps. Other sums that fit except for one weight, or at most steps, get a remark.',
    },
  },
  watch: (world) => {
    let judged = 0;
    let end: readonly Sum[] | undefined;
    const sums = (): readonly Sum[] =>
      end ??
      [lossSum(world), rewardSum(world), shapedSum(world), marginSum(world)].flatMap((sum) => sum ?? []);
    return {
      end() {
        end = sums();
        judged = end.length;
        return end.flatMap((sum) => failureOf(world, sum) ?? []);
      },
      judged: () => judged,
      why: () => 'what is logged of losses and rewards is no sum of other series, or has no parts',
      remarks: () =>
        sums().flatMap((sum) => (failureOf(world, sum) === undefined ? (remarkOf(sum) ?? []) : [])),
    } satisfies Watch;
  },
};

interface Sum {
  readonly series: Series;
  readonly whole: Whole;
  readonly parts: readonly Part[];
  readonly verdict: Verdict;
}

const KL = /(?:^|[/_])kl(?:$|[/_])/i;

/** A weight of 1 is a term that is logged with its coefficient. */
function failureOf(world: RuleWorld, { series, whole, parts, verdict }: Sum): Violation | undefined {
  if (verdict.kind !== 'other weight' || !KL.test(verdict.part.name)) return undefined;
  const { part, weight } = verdict;
  const declared = part.weight ?? Number.NaN;
  const tolerance = Number(world.setting('tolerance'));
  if (Math.abs(weight - 1) < tolerance || Math.abs(weight) < GONE * declared) return undefined;
  // A divergence that is logged with either sign is the mean log-ratio, which some take the other way round.
  if (part.values.some((value) => value < 0) || Math.abs(weight / declared - 1) <= tolerance)
    return undefined;
  return {
    kind: weight < 0 ? 'subtracted' : 'another weight',
    sentence: `${whole.name} is ${sumText(parts, part, weight)} at each step: ${part.name} ${weight < 0 ? 'is subtracted, and so it is rewarded' : `has a weight of ${rounded(weight)}`}; the run declares ${read(declared)}.`,
    series,
    step: whole.steps[0] as number,
    value: whole.values[0] as number,
  };
}

function remarkOf({ whole, parts, verdict }: Sum): string | undefined {
  switch (verdict.kind) {
    case 'other weight': {
      const { part, weight } = verdict;
      if (Math.abs(weight / (part.weight as number) - 1) < ROUNDING) return undefined;
      // A term may be logged with its coefficient.
      if (part.weight !== 1 && Math.abs(weight - 1) < ROUNDING && TOTAL.test(whole.name)) return undefined;
      const gone = Math.abs(weight) < GONE * Math.abs(part.weight as number);
      // Each of several objectives may have an optimiser of its own.
      if (gone && TOTAL.test(whole.name)) return undefined;
      return `${whole.name} is ${sumText(parts, part, weight)} at each step: ${gone ? `${part.name} is not in it` : `${part.name} has a weight of ${rounded(weight)}`}, and ${rounded(part.weight as number)} is ${PLAIN.get(part.weight) ?? 'declared'}. Is that meant?`;
    }
    case 'other scale': {
      // A mean over the parts.
      const isMean = parts.every(({ weight }) => weight !== -1);
      if (isMean && Math.abs(verdict.factor * parts.length - 1) < ROUNDING) return undefined;
      return `${whole.name} is ${rounded(verdict.factor)} times ${sumText(parts)} at each step. Is it divided by something that its parts are not?`;
    }
    case 'at some steps': {
      const steps = verdict.rows.slice(0, MOST_NAMED).map((row) => whole.steps[row]);
      const more = verdict.rows.length - steps.length;
      return `${whole.name} is ${sumText(parts)} at ${whole.values.length - verdict.rows.length} of ${whole.values.length} steps, and not at step ${steps.join(', ')}${more > 0 ? ` and ${more} more` : ''}. Is a part missing there, or is one of another step?`;
    }
    default:
      return undefined;
  }
}

/** Weights that nobody has to declare. */
const PLAIN: ReadonlyMap<number | undefined, string> = new Map([
  [1, 'what a plain sum has'],
  [-1, 'what a difference has'],
]);
const ROUNDING = 0.02;
/** Of the declared weight: what is left of it by rounding. */
const GONE = 2e-3;
const MOST_NAMED = 3;
const rounded = (value: number): string => read(Number(value.toPrecision(3)));

/** `a + 0.1 b - 0.01 c` */
function sumText(parts: readonly Part[], other?: Part, weight = 0): string {
  return parts
    .map((part) => ({ name: part.name, by: part === other ? weight : (part.weight ?? 0) }))
    .filter(({ by }) => Math.abs(by) > 1e-9)
    .map(({ name, by }, at) => {
      const sign = by < 0 ? (at === 0 ? '-' : ' - ') : at === 0 ? '' : ' + ';
      return `${sign}${Math.abs(Math.abs(by) - 1) < ROUNDING ? '' : `${rounded(Math.abs(by))} `}${name}`;
    })
    .join('');
}

const TOTAL = /(?:^|\/)(?:loss|total_loss|loss_total|total)$/i;
const POLICY =
  /(?:^|[/_])(?:pg|policy|actor|surrogate|surr|ppo|grpo|dpo|sft|lm|ce|task|main)_loss$|(?:^|\/)policy$/i;

/** Terms of a loss, as trainers call them, with the names of their coefficients; undefined: the weight is 1. */
const TERMS: readonly (readonly [name: RegExp, sign: 1 | -1, coefficients: readonly string[] | undefined])[] =
  [
    [/(?:^|[/_])(?:kl|kl_loss|ref_kl|kl_div|kl_penalty)$/i, 1, COEFFICIENTS],
    [
      /(?:^|[/_])(?:entropy|entropy_bonus)$/i,
      -1,
      ['ent_coef', 'entropy_coef', 'entropy_coeff', 'entropy_bonus', 'actor_rollout_ref.actor.entropy_coeff'],
    ],
    [
      /(?:^|[/_])(?:value_loss|vf_loss|v_loss|critic_loss)$/i,
      1,
      ['vf_coef', 'value_coef', 'value_loss_coef', 'vf_loss_coef', 'value_coeff', 'critic_coef'],
    ],
    [
      /(?:^|[/_])(?:aux_loss|router_aux_loss|load_balancing_loss|balance_loss)$/i,
      1,
      ['aux_loss_coef', 'router_aux_loss_coef', 'moe_aux_loss_coeff', 'aux_coef', 'load_balancing_coef'],
    ],
    [/(?:^|[/_])z_loss$/i, 1, ['z_loss_coef', 'z_loss_weight', 'router_z_loss_coef']],
    [POLICY, 1, undefined],
  ];

function lossSum(world: RuleWorld): Sum | undefined {
  const training = world.series().filter(({ evaluation }) => !evaluation);
  const total = training.find(({ name }) => TOTAL.test(name));
  if (total === undefined) return undefined;
  const terms = training.flatMap((series): Weighted[] => {
    const term = series === total ? undefined : TERMS.find(([name]) => name.test(series.name));
    if (term === undefined) return [];
    const [, sign, coefficients] = term;
    const weight = coefficients === undefined ? 1 : declaredNumber(world, ...coefficients);
    return [{ series, weight: weight === undefined ? undefined : sign * weight }];
  });
  return addedUp(world, total, terms);
}

const REWARD_PART =
  /(?:^|\/)rewards?\/(?!mean$|std$|min$|max$|chosen|rejected|margins|accuracies)([\w.-]+?)(?:\/mean)?$/i;

function rewardSum(world: RuleWorld): Sum | undefined {
  const training = world.series().filter(({ evaluation }) => !evaluation);
  const total = training.find(({ role, part }) => role === 'reward' && part === '');
  if (total === undefined) return undefined;
  const terms = training.flatMap((series): Weighted[] => {
    const name = series === total ? undefined : REWARD_PART.exec(series.name)?.[1];
    return name === undefined || /(?:^|[/_])std$/.test(series.name)
      ? []
      : [{ series, weight: rewardWeight(world, name) }];
  });
  const listed = weightsListed(world);
  const own = listed?.length === terms.length;
  return addedUp(
    world,
    total,
    terms.map((term, at) => ({ ...term, weight: term.weight ?? (own ? listed[at] : 1) })),
  );
}

/** TRL's PPO and its descendants: what a reward model gives, and the KL that is taken away from it. */
const SHAPED = /(?:^|\/)objective\/rlhf_reward$/i;
const OF_SHAPED = /(?:^|\/)objective\/(?:scores|non_score_reward)$/i;

function shapedSum(world: RuleWorld): Sum | undefined {
  const training = world.series().filter(({ evaluation }) => !evaluation);
  const total = training.find(({ name }) => SHAPED.test(name));
  if (total === undefined) return undefined;
  const terms = training.filter(({ name }) => OF_SHAPED.test(name));
  return addedUp(
    world,
    total,
    terms.map((series) => ({ series, weight: 1 })),
  );
}

/** The implicit rewards of the two halves of a pair, and what lies between them, as trainers of preferences log them. */
const MARGIN = /(?:^|\/)(?:rewards?\/margins?|reward_margins?)$/i;
const HALVES: readonly (readonly [name: RegExp, weight: 1 | -1])[] = [
  [/(?:^|\/)(?:rewards?\/chosen|chosen_rewards?)$/i, 1],
  [/(?:^|\/)(?:rewards?\/rejected|rejected_rewards?)$/i, -1],
];

function marginSum(world: RuleWorld): Sum | undefined {
  const training = world.series().filter(({ evaluation }) => !evaluation);
  const margins = training.find(({ name }) => MARGIN.test(name));
  if (margins === undefined) return undefined;
  const halves = HALVES.flatMap(([name, weight]): Weighted[] => {
    const series = training.find((each) => name.test(each.name));
    return series === undefined ? [] : [{ series, weight }];
  });
  return addedUp(world, margins, halves);
}

const rewardWeight = (world: RuleWorld, name: string): number | undefined =>
  declaredNumber(
    world,
    ...[name, name.replace(/_(?:reward|rewards|func|fn)$/, '')].flatMap((each) => [
      `${each}_weight`,
      `${each}_coef`,
      `${each}_reward_weight`,
      `reward_weights.${each}`,
      `rewards.weights.${each}`,
      `weight_${each}`,
    ]),
  );

/** `[1.0, 0.5]`, in the order in which the parts are logged. */
function weightsListed(world: RuleWorld): readonly number[] | undefined {
  const text = declaredText(world, 'reward_weights');
  if (text === undefined || !/^\[[^\]]*\]$/.test(text)) return undefined;
  const numbers = text.slice(1, -1).split(',').map(Number);
  return numbers.every(Number.isFinite) ? numbers : undefined;
}

interface Weighted {
  readonly series: Series;
  readonly weight: number | undefined;
}

/** More parts than these fit anything. */
const MOST_PARTS = 8;

function addedUp(world: RuleWorld, total: Series, terms: readonly Weighted[]): Sum | undefined {
  const course = world.courseOf(total);
  if (course === undefined || terms.length < 2 || terms.length > MOST_PARTS) return undefined;
  const parts = terms.flatMap(({ series, weight }): Part[] => {
    const own = world.courseOf(series);
    // Means over the same steps add up as the values do.
    const alike = own?.points === course.points && own.steps.every((step, at) => step === course.steps[at]);
    return own !== undefined && alike ? [{ name: series.name, values: own.means, weight }] : [];
  });
  if (parts.length < 2) return undefined;
  const whole: Whole = { name: total.name, steps: course.steps, values: course.means };
  const verdict = sumOf(whole, parts);
  return verdict === undefined ? undefined : { series: total, whole, parts, verdict };
}
