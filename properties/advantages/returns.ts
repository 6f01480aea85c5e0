// Discounted returns: what the rewards from a token on come to. What stands at tokens that are not trained is open.
import {
  type Args,
  bandOf,
  discountedReturns,
  type Finding,
  gapsBehind,
  layGaps,
  type Matrix,
  meantOr,
  type Need,
  notMeant,
  type Property,
  type ReturnsCase,
  relations,
  returnsCase,
  returnsLabels,
  returnsOfTurns,
  type Subject,
  show,
  stripOf,
  underGaps,
  underMask,
  withoutGaps,
} from '../../src/index.ts';

const base = { stage: 'returns', level: 'must', ops: ['returns'], labels: returnsLabels } as const;
const coverage = { 'unequal completions': 0.2, 'gamma below 1': 0.25 };
const gaps = { gap: 0.15, 'ends in masked tokens': 0.15 };

/** Far from any reward. */
const JUNK = -17;

function argsOf(drawn: ReturnsCase, behind = 0): Args<'returns'> {
  const { track, completion_mask, prompt_width } = layGaps<'reward'>(drawn);
  return { rewards: track('reward', { behind }), completion_mask, prompt_width, gamma: drawn.gamma };
}

interface Asked {
  readonly drawn: ReturnsCase;
  readonly args: Args<'returns'>;
  readonly observed: Matrix;
}

async function ask(subject: Subject, drawn: ReturnsCase, behind = 0): Promise<Asked> {
  const args = argsOf(drawn, behind);
  return { drawn, args, observed: (await subject.ask('returns', args)).returns };
}

/** A finding about the first row in which a trained token has another return than expected. */
function finding(
  subject: Subject,
  { drawn, args, observed }: Asked,
  expected: Matrix,
  sentence: (token: string, observed: string, expected: string) => string,
): Finding | undefined {
  const { completion_mask: mask, rewards } = args;
  const band = bandOf(subject, underMask(expected, mask).length);
  for (const [row, marks] of mask.entries()) {
    const [seen, wanted] = [observed[row] ?? [], expected[row] ?? []];
    const columns = marks.flatMap((on, t) => (on === 1 && !band.close(seen[t], wanted[t]) ? [t] : []));
    const [first] = columns;
    if (first === undefined) continue;
    return {
      kind: 'return',
      sentence: sentence(`token ${first} of row ${row}`, show(seen[first]), show(wanted[first])),
      strips: [
        stripOf(subject, {
          row,
          ids: seen.map((_, column) => column),
          roles: layGaps<'reward'>(drawn).roles[row] ?? [],
          tracks: { mask: marks, rewards: rewards[row] ?? [], returns: seen, expected: wanted },
          marks: columns,
          shown: 'columns',
        }),
      ],
      note: band.reason,
    };
  }
  return undefined;
}

const equals: Property<ReturnsCase> = {
  ...base,
  id: 'returns/equal-the-discounted-sum',
  title:
    'The return of a token is the sum of gamma^k r_k from it on, up to the last trained token of its row',
  why: 'A sum from the left, or one that is discounted once too often, credits a decision with what came before it, or with less than it earned.',
  catches: ['VAL-01', 'PAD-08'],
  given: () => returnsCase(),
  coverage,
  async check(subject, drawn) {
    const asked = await ask(subject, drawn);
    const { rewards, completion_mask: mask, gamma } = asked.args;
    return finding(
      subject,
      asked,
      discountedReturns(rewards, mask, gamma),
      (token, observed, expected) =>
        `The return of ${token} is ${observed}; with gamma ${gamma} the rewards from it on give ${expected}.`,
    );
  },
};

/** Where each turn is an episode with a reward of its own, a return ends there on purpose. */
const oneEpisode: Need = notMeant('turns_are_episodes');

/** A question if the returns are those of each turn alone, and it is not declared whether that is meant. */
function orEpisodes(subject: Subject, asked: Asked, found: Finding | undefined): Finding | undefined {
  if (found === undefined || subject.semantics.turns_are_episodes !== undefined) return found;
  const { rewards, completion_mask: mask, gamma } = asked.args;
  const ofTurns = finding(subject, asked, returnsOfTurns(rewards, mask, gamma), () => '');
  return ofTurns === undefined ? { ...found, ...meantOr(subject, 'turns_are_episodes') } : found;
}

const undiscounted: Property<ReturnsCase> = {
  ...base,
  id: 'returns/undiscounted-reach-over-gaps',
  needs: [oneEpisode],
  title:
    'With gamma 1, the return of a token is the sum of all rewards of its row from it on, on either side of masked tokens',
  why: 'A reward after a tool call is what the call was for: returns that end at the output of a tool never credit it.',
  catches: ['VAL-04'],
  given: () => returnsCase({ gaps: true }).map((drawn) => ({ ...drawn, gamma: 1 })),
  coverage: gaps,
  async check(subject, drawn) {
    const asked = await ask(subject, drawn);
    const { rewards, completion_mask: mask } = asked.args;
    const found = finding(
      subject,
      asked,
      discountedReturns(rewards, mask, 1),
      (token, observed, expected) =>
        `The return of ${token} is ${observed}, but the rewards of its row from it on add up to ${expected}.`,
    );
    return orEpisodes(subject, asked, found);
  },
};

const compressed: Property<ReturnsCase> = {
  ...base,
  id: 'returns/masked-tokens-are-no-steps',
  needs: [oneEpisode],
  title: 'Masked tokens between or after trained ones change no return',
  why: "A tool's output is not a decision: counted as a step, it discounts what follows it; counted as the end of the row, it cuts the credit off.",
  catches: ['VAL-04'],
  given: () => returnsCase({ gaps: true }),
  coverage: gaps,
  async check(subject, drawn) {
    const asked = await ask(subject, drawn);
    const without = await ask(subject, withoutGaps(drawn));
    const expected = asked.args.completion_mask.map((marks, row) => {
      const kept =
        without.observed[row]?.filter((_, t) => without.args.completion_mask[row]?.[t] === 1) ?? [];
      let next = 0;
      return marks.map((on) => (on === 1 ? (kept[next++] ?? Number.NaN) : 0));
    });
    const found = finding(
      subject,
      asked,
      expected,
      (token, observed, alone) =>
        `The return of ${token} is ${observed}, but ${alone} when the masked tokens are left out: they count as steps.`,
    );
    return orEpisodes(subject, asked, found);
  },
};

const behindTheRow: Property<ReturnsCase> = {
  ...base,
  id: 'returns/padding-does-not-reach-back',
  title: 'Rewards on padding beyond the slot after the last token change no return',
  why: 'The recursion runs from the right: a reward or value on padding is credited to every token of the row.',
  catches: ['VAL-01'],
  given: () => returnsCase(),
  coverage,
  async check(subject, drawn) {
    const clean = await ask(subject, drawn);
    const junk = await ask(subject, drawn, JUNK);
    const found = finding(
      subject,
      junk,
      clean.observed,
      (token, observed, before) =>
        `The return of ${token} changes from ${before} to ${observed} when only rewards on the padding after the rows change.`,
    );
    return found === undefined
      ? undefined
      : {
          ...found,
          note: 'Where training masks rewards before it calls this function, the adapter does so, too.',
        };
  },
};

const related = {
  op: 'returns',
  stage: 'returns',
  noun: 'The return of a token',
  args: (drawn: ReturnsCase) => argsOf(drawn),
  labels: returnsLabels,
} as const;

export const returnsProperties: readonly Property<ReturnsCase>[] = underGaps(gapsBehind, [
  equals,
  undiscounted,
  compressed,
  behindTheRow,
  ...relations({
    ...related,
    given: () => returnsCase({ minRows: 2 }),
    coverage,
    allBut: ['masked-values', 'nan-under-the-mask'],
    relations: { padding: { catches: ['VAL-01'] }, inputs: { catches: ['VAL-01'] } },
  }),
  ...relations({
    ...related,
    given: () => returnsCase({ gaps: true }),
    coverage: { gap: 0.15 },
    relations: {
      // A trainer that hands the score out behind the last token reads that slot on purpose.
      'masked-values': { level: 'should', catches: ['VAL-01', 'VAL-04'] },
      'nan-under-the-mask': {},
    },
  }),
]);
