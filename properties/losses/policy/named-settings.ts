// A setting that is called like a declared choice is that choice and no other: with `kl_coef` 0.5 in the request, the
// answer is that of the declared formula with coefficient 0.5. Settings of other names are only turned (relations/knobs).
import fc from 'fast-check';
import {
  formulaOf,
  type Op,
  type Pairs,
  type Property,
  type Semantics,
  type Subject,
  type Tracks,
  type World,
} from '../../../src/index.ts';
import { preferenceLossProperties } from '../pairs/preference-loss.ts';
import { lossBonus } from './bonus.ts';
import { lossFormula } from './formula.ts';

/** One setting of one request. */
interface Named<Case> {
  readonly drawn: Case;
  readonly name: string;
  readonly value: number;
}

/** A setting's name, and what it is in the declaration. */
type Names = Readonly<Record<string, keyof Semantics>>;

/** Names of a coefficient that mean one thing wherever they are declared. */
const LOSS_NAMES: Names = {
  kl_coef: 'kl_coef',
  clip_low: 'clip_low',
  clip_high: 'clip_high',
  dual_clip: 'dual_clip',
  entropy_coef: 'entropy_coef',
  loss_norm: 'loss_norm',
};
const PREFERENCE_NAMES: Names = {
  beta: 'preference_beta',
  preference_beta: 'preference_beta',
  label_smoothing: 'preference_label_smoothing',
  preference_label_smoothing: 'preference_label_smoothing',
  preference_gamma: 'preference_gamma',
};

/** The settings of this op that are called like a choice which the trainer has declared. */
const settingsOf = (op: Op, names: Names, { hello, semantics }: World): { name: string; value: number }[] =>
  Object.entries(hello.ops[op]?.knobs ?? {}).flatMap(([name, values]) => {
    const key = names[name];
    if (key === undefined || semantics[key] === undefined) return [];
    // What is declared is asked for by every other property.
    return values.flatMap((value) =>
      value === semantics[key] || typeof value === 'string' ? [] : [{ name, value }],
    );
  });

const turned = <W extends World>(world: W, names: Names, name: string, value: number): W => {
  const key = names[name];
  return key === undefined ? world : { ...world, semantics: { ...world.semantics, [key]: value } };
};

/** What `told` says of the declared choices, said of those that a request asks for. */
function named<Case>(
  told: Property<Case>,
  names: Names,
  about: Pick<Property, 'id' | 'title' | 'why' | 'catches'>,
): Property<Named<Case>> {
  const [op] = told.ops;
  const settings = (world: World) => (op === undefined ? [] : settingsOf(op, names, world));
  const { labels, coverage } = told;
  return {
    ...about,
    stage: told.stage,
    level: told.level ?? 'must',
    ops: told.ops,
    needs: [
      ...(told.needs ?? []),
      (world) =>
        settings(world).length === 0
          ? `op \`${op}\` declares no knob that is called like one of its declared semantics`
          : undefined,
      // What compares with a formula has none to compare with where the trainer has its own.
      ...(told.settles === undefined ? [] : [formulaOf(told.ops)]),
    ],
    given: (world) =>
      fc.oneof(
        ...settings(world).map(({ name, value }) =>
          told.given(turned(world, names, name, value)).map((drawn) => ({ drawn, name, value })),
        ),
      ),
    ...(labels === undefined
      ? {}
      : { labels: ({ drawn }: Named<Case>, world: World) => labels(drawn, world) }),
    ...(coverage === undefined ? {} : { coverage }),
    async check(subject, { drawn, name, value }) {
      const asking: Subject = {
        ...turned(subject, names, name, value),
        ask: (asked, args) =>
          subject.ask(asked, asked === op ? { ...args, settings: { [name]: value } } : args),
      };
      const found = await told.check(asking, drawn);
      return found === undefined
        ? undefined
        : { ...found, sentence: `With ${name} set to ${value}: ${found.sentence}` };
    },
  };
}

const why =
  'A setting that reaches one half of the formula, or another coefficient as well, passes for a turned knob.';

export const lossSettings: readonly Property<Named<Tracks>>[] = [
  ...lossFormula
    .filter(({ id }) => id === 'loss/equals-the-declared-formula')
    .map((told) =>
      named(told, LOSS_NAMES, {
        id: 'loss/settings-are-those-of-the-formula',
        title:
          'With a setting that is called like a declared choice, the loss is the declared formula with it',
        why,
        catches: ['KL-06', 'KL-09'],
      }),
    ),
  ...lossBonus
    .filter(({ id }) => id === 'loss/entropy-is-rewarded')
    .map((told) =>
      named(told, LOSS_NAMES, {
        id: 'loss/settings-leave-the-bonus-to-its-own',
        title: 'The entropy bonus follows the setting that is called after it, and no other',
        why,
        catches: ['KL-06', 'KL-09'],
      }),
    ),
];

export const preferenceLossSettings: readonly Property<Named<Pairs>>[] = preferenceLossProperties
  .filter(({ id }) => id === 'preference_loss/equals-the-objective')
  .map((told) =>
    named(told, PREFERENCE_NAMES, {
      id: 'preference_loss/settings-are-those-of-the-objective',
      title:
        'With a setting that is called like a declared choice, the loss is the declared objective with it',
      why,
      catches: ['KL-06', 'LOSS-13'],
    }),
  );
