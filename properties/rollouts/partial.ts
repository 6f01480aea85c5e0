// Generation that was interrupted and goes on with a newer policy: from its own prefix, with what is left of its budget, and with
// the log-probabilities and versions of the policies that sampled each id.
import {
  type Args,
  bandOf,
  discard,
  type Finding,
  type Ids,
  many,
  type Ok,
  type Property,
  type Resumed,
  type ResumedRow,
  relations,
  resumeArgs,
  resumed,
  resumedLabels,
  type Subject,
  sameIds,
  show,
  stopsOf,
  type World,
} from '../../src/index.ts';

const base = {
  stage: 'rollout',
  level: 'must',
  ops: ['partial_rollout'],
  given: (world: World) => resumed(world.hello.tokens, stopsOf(world, 'partial_rollout').oneStop),
  labels: resumedLabels,
  coverage: {
    'something so far': 0.5,
    'several policies so far': 0.3,
    'more than is left': 0.3,
    'stops in time': 0.2,
  },
} as const satisfies Partial<Property<Resumed>>;

const shown = (values: readonly (number | undefined)[]): string =>
  `[${values.map((value) => show(value)).join(', ')}]`;

/** What the engine gives where it is asked for what is left: up to its stop token, which it ends in. */
function continued({ partial, sampled }: ResumedRow, { limit }: Resumed): ResumedRow['sampled'] {
  return sampled.slice(0, limit - partial.length);
}

interface Continued {
  readonly row: number;
  readonly given: ResumedRow;
  readonly answer: Ok<'partial_rollout'>;
  /** Of the completion that is answered, which may lack its stop token. */
  readonly ids: Ids;
}

/** A rule about each row whose completion is the prefix and what was sampled after it; others are one property's business. */
function eachRow(
  rule: (at: Continued, drawn: Resumed, subject: Subject) => Finding | undefined,
): Property<Resumed>['check'] {
  return async (subject, drawn) => {
    const answer = await subject.ask('partial_rollout', resumeArgs(drawn));
    for (const [row, given] of drawn.rows.entries()) {
      const ids = answer.completion_ids[row] ?? [];
      if (!isWhole(ids, given, drawn)) continue;
      const found = rule({ row, given, answer, ids }, drawn, subject);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** The completion, with its stop token or without. */
function isWhole(ids: Ids, given: ResumedRow, drawn: Resumed): boolean {
  const all = [...given.partial, ...continued(given, drawn)].map(({ id }) => id);
  const endsInStop = drawn.stops.includes(all.at(-1) ?? -1);
  return sameIds(ids, all) || (endsInStop && sameIds(ids, all.slice(0, -1)));
}

/** What stands beside the ids of a completion, compared one by one. */
function track(
  name: 'logprobs' | 'versions',
  expected: (given: ResumedRow, drawn: Resumed) => readonly number[],
  words: string,
) {
  return eachRow(({ row, given, answer, ids }, drawn, subject) => {
    const values = answer[name]?.[row] ?? discard(`the answer has no ${name}`, 'trainer');
    const want = expected(given, drawn).slice(0, ids.length);
    const band = bandOf(subject);
    const at = ids.findIndex((_, place) => !band.close(values[place], want[place]));
    if (at < 0 && values.length === ids.length) return undefined;
    if (at < 0)
      return {
        kind: 'length',
        sentence: `Completion ${row} has ${many(ids.length, 'id')} and ${many(values.length, 'value')} in ${name}.`,
      };
    const part = at < given.partial.length ? 'before the interruption' : 'after the interruption';
    return {
      kind: part,
      sentence: `Id ${at} of completion ${row} was sampled ${part}; its ${words} is ${show(want[at])}, and ${name} has ${show(values[at])} there.`,
      note: `expected ${shown(want)}, observed ${shown(values)}`,
    };
  });
}

/** What an id may have in a mask that leaves out the oldest ones: 1 after a 1, else what it has. */
const youngest = (mask: readonly number[], at: number): number =>
  at > 0 && mask[at - 1] === 1 ? 1 : Math.min(1, Math.max(0, mask[at] ?? 0));

export const resumeProperties: readonly Property<Resumed>[] = [
  {
    ...base,
    id: 'rollout/partial-goes-on-from-the-prefix',
    title: 'Generation goes on after the prompt and all that was sampled of this row',
    why: 'If the engine begins anew, the prefix was sampled for nothing; with the prefix of another row, it goes on with another text.',
    catches: ['MT-07'],
    async check(subject, drawn) {
      const { input_ids: rows } = await subject.ask('partial_rollout', resumeArgs(drawn));
      for (const [row, { prompt, partial }] of drawn.rows.entries()) {
        const expected = [...prompt, ...partial.map(({ id }) => id)];
        const observed = rows[row] ?? [];
        if (sameIds(observed, expected)) continue;
        return {
          kind: 'prefix',
          sentence: `The engine is given ${shown(observed)} for row ${row}; the prompt ${shown(prompt)} and what was sampled of it are ${shown(expected)}.`,
        };
      }
      return undefined;
    },
  },
  {
    ...base,
    id: 'rollout/partial-has-what-is-left-of-the-budget',
    title: 'A completion that goes on has max_new_tokens less what was sampled before',
    why: 'With a full budget again, completions have up to twice the limit: the engine refuses them, or they are cut after they were paid for.',
    catches: ['MT-07'],
    async check(subject, drawn) {
      const { max_new_tokens: asked, completion_ids: rows } = await subject.ask(
        'partial_rollout',
        resumeArgs(drawn),
      );
      for (const [row, { partial }] of drawn.rows.entries()) {
        const left = drawn.limit - partial.length;
        const observed = asked?.[row] ?? left;
        const length = rows[row]?.length ?? 0;
        if (observed === left && length <= drawn.limit) continue;
        return {
          kind: observed === left ? 'too long' : 'budget',
          sentence:
            observed === left
              ? `Completion ${row} has ${many(length, 'id')}; max_new_tokens is ${drawn.limit}.`
              : `The engine is asked for ${many(observed, 'id')} of row ${row}: ${partial.length} of ${drawn.limit} were sampled before, so ${left} are left.`,
          advice: 'Take the length of the prefix off max_new_tokens, each time that generation goes on.',
        };
      }
      return undefined;
    },
  },
  {
    ...base,
    id: 'rollout/partial-joins-both-parts',
    title: 'The completion is what was sampled before and after the interruption, id by id, once',
    why: 'A prefix that is lost or stands there twice is another completion than the one that is rewarded.',
    catches: ['MT-07'],
    async check(subject, drawn) {
      const { completion_ids: rows } = await subject.ask('partial_rollout', resumeArgs(drawn));
      for (const [row, given] of drawn.rows.entries()) {
        const observed = rows[row] ?? [];
        if (isWhole(observed, given, drawn)) continue;
        const [before, after] = [given.partial, continued(given, drawn)].map((part) =>
          part.map(({ id }) => id),
        );
        return {
          kind: 'ids',
          sentence: `Completion ${row} is ${shown(observed)}; ${shown(before ?? [])} was sampled before the interruption, and ${shown(after ?? [])} after it.`,
        };
      }
      return undefined;
    },
  },
  {
    ...base,
    id: 'rollout/partial-keeps-log-probabilities',
    title: 'Each id has the log-probability of the policy that sampled it',
    why: 'The ratio of an old prefix compares the new policy with itself: it is 1, and the step corrects nothing.',
    catches: ['MT-07'],
    check: track(
      'logprobs',
      (given, drawn) => [...given.partial, ...continued(given, drawn)].map((token) => token.logprob),
      'log-probability then',
    ),
  },
  {
    ...base,
    id: 'rollout/partial-keeps-versions',
    title: 'Each id has the version of the policy that sampled it',
    why: 'Staleness is bounded by these versions: one that stands for a whole row lets ids in that are too old, or masks new ones.',
    catches: ['MT-07'],
    check: track(
      'versions',
      (given, drawn) => [
        ...given.partial.map(({ version }) => version),
        ...continued(given, drawn).map(() => drawn.version),
      ],
      'version',
    ),
  },
  {
    ...base,
    id: 'rollout/partial-trains-both-parts',
    title: 'The loss mask is 1 on each new id, and on the prefix where earlier policies are trained',
    why: 'A mask that is made for the new ids alone, or for those before, loses half of what the reward is for.',
    catches: ['MT-07'],
    settles: ['resumed_prefix_trained'],
    check: eachRow(({ row, given: { partial }, answer, ids }, drawn, { semantics }) => {
      const mask = answer.loss_mask?.[row] ?? discard('the answer has no loss_mask', 'trainer');
      const { resumed_prefix_trained: trained } = semantics;
      // Where it is not said, ids that are too old may be left out: those of the first policies.
      const wanted = (at: number): number =>
        at >= partial.length ? 1 : trained === undefined ? youngest(mask, at) : Number(trained);
      const at = ids.findIndex((id, place) => {
        // Whether a stop token is trained is another choice.
        if (drawn.stops.includes(id) && place === ids.length - 1)
          return mask[place] !== 0 && mask[place] !== 1;
        return mask[place] !== wanted(place);
      });
      if (at < 0 && mask.length === ids.length) return undefined;
      return {
        kind: at < 0 ? 'length' : at < partial.length ? 'prefix' : 'new ids',
        sentence:
          at < 0
            ? `Completion ${row} has ${many(ids.length, 'id')} and ${many(mask.length, 'value')} in loss_mask.`
            : `Id ${at} of completion ${row}, sampled ${at < partial.length ? 'before' : 'after'} the interruption, has ${show(mask[at])} in loss_mask; expected ${wanted(at)}.`,
      };
    }),
  },
  ...relations<'partial_rollout', Resumed>({
    ...base,
    op: 'partial_rollout',
    prefix: 'rollout/partial-',
    noun: 'A completion that goes on',
    args: (drawn): Args<'partial_rollout'> => resumeArgs(drawn),
    allBut: [],
  }),
];
