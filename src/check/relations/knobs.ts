// M-KNOB: a setting that is documented does something, and one that is misspelt is refused. Which settings an op has,
// and values that must give different answers, its trainer says in capability `knobs`.
import fc from 'fast-check';
import type { Args, Op } from '../../protocol/message.ts';
import type { Property, Subject, World } from '../property.ts';
import { discard } from '../subject.ts';
import { agreement } from './compare.ts';
import type { Related } from './relations.ts';

/**
 * A setting may make no difference to a request, by right: a clip range to ratios within it. So many requests that it
 * would have to spare all of them; the first that differs is enough.
 */
const REQUESTS = 24;

export interface Turned<Case> {
  /** Not `rows`: every one is a request of its own. */
  readonly requests: readonly Case[];
  readonly knob: string;
}

const knobsOf = (op: Op, world: World): Readonly<Record<string, readonly (number | string)[]>> =>
  world.hello.ops[op]?.knobs ?? {};

const misspelling = (name: string): string => `${name.slice(0, -1)}${name.endsWith('s') ? 'z' : 's'}`;

const pairsOf = <T>(values: readonly T[]): (readonly [T, T])[] =>
  values.flatMap((value, at) => values.slice(0, at).map((before) => [before, value] as const));

type KnobbedOp = { [O in Op]: Args<O> extends { readonly settings?: unknown } ? O : never }[Op];

/**
 * The properties of the settings that an op declares as `knobs`: each changes an answer, and an unknown one is
 * refused.
 */
export function knobs<O extends KnobbedOp, Case>(
  related: Pick<Related<O, Case>, 'op' | 'stage' | 'args' | 'given' | 'needs' | 'prefix'> & {
    readonly catches: readonly string[];
  },
): readonly Property<Turned<Case>>[] {
  const { op, stage, args, given, needs = [], prefix = `${stage}/` } = related;
  const base = {
    stage,
    level: 'must',
    ops: [op],
    catches: related.catches,
    needs: [
      ...needs,
      (world: World) =>
        Object.keys(knobsOf(op, world)).length === 0 ? `op \`${op}\` declares no knobs` : undefined,
    ],
    labels: ({ knob }: Turned<Case>) => [`knob ${knob}`],
  } as const;
  const turned =
    (count: number) =>
    (world: World): fc.Arbitrary<Turned<Case>> =>
      fc.record({
        requests: fc.array(given(world), { minLength: count, maxLength: count }),
        knob: fc.constantFrom(...Object.keys(knobsOf(op, world))),
      });
  const withSetting = (drawn: Case, subject: Subject, name: string, value: number | string): Args<O> =>
    ({ ...args(drawn, subject), settings: { [name]: value } }) as Args<O>;
  return [
    {
      ...base,
      id: `${prefix}every-knob-turns`,
      title: 'A documented setting changes the answer',
      given: turned(REQUESTS),
      why: 'A coefficient that is read from the configuration and never used is in every ablation that was done with it.',
      async check(subject, { requests, knob }) {
        const values = knobsOf(op, subject)[knob] ?? [];
        if (values.length < 2) return discard(`${knob} has one value only`, 'trainer');
        // Two that are the same and no others: a name that the code does not know falls to another one's branch.
        for (const [first, value] of pairsOf(values)) {
          let differs = false;
          for (const drawn of requests) {
            const base = withSetting(drawn, subject, knob, first);
            const before = { fields: await subject.ask(op, base) };
            const after = { fields: await subject.ask(op, withSetting(drawn, subject, knob, value)) };
            const when = `with ${knob} ${value} instead of ${first}`;
            differs =
              agreement({ world: subject, op, args: base, before, after, when, exact: true }) !== undefined;
            if (differs) break;
          }
          if (!differs)
            return {
              kind: 'dead knob',
              sentence: `${knob} ${first} and ${knob} ${value} give the same answers to ${requests.length} requests: the setting does nothing.`,
            };
        }
        return undefined;
      },
    },
    {
      ...base,
      id: `${prefix}misspelt-knobs-are-refused`,
      title: 'A setting that does not exist is refused',
      given: turned(1),
      why: 'A misspelt option that is swallowed leaves the default in place, and no one sees it.',
      async check(subject, { requests: [drawn], knob }) {
        if (drawn === undefined) return undefined;
        const values = knobsOf(op, subject)[knob] ?? [];
        const [value = 0] = values;
        if (typeof value === 'string') {
          const wrong = misspelling(value);
          const outcome = await subject.attempt(op, withSetting(drawn, subject, knob, wrong));
          if (!values.includes(wrong) && !('refused' in outcome))
            return {
              kind: 'swallowed value',
              sentence: `There is no ${knob} ${wrong}, and a request that asks for it is answered as if nothing was wrong.`,
            };
        }
        const misspelt = misspelling(knob);
        if (misspelt in knobsOf(op, subject)) return discard(`${misspelt} is another setting`);
        const outcome = await subject.attempt(op, withSetting(drawn, subject, misspelt, value));
        return 'refused' in outcome
          ? undefined
          : {
              kind: 'swallowed',
              sentence: `There is no setting ${misspelt}, and a request that sets it to ${value} is answered as if nothing was wrong.`,
            };
      },
    },
  ];
}
