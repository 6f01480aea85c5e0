// Rewards of whole completions. What a reward function likes is its own business; that it tells a right answer from a
// wrong one, and gives the same answer the same reward wherever it stands, is not.
import {
  type Args,
  discard,
  type Finding,
  type Graded,
  type GradedRow,
  graded,
  gradedLabels,
  type Need,
  type Ok,
  otherAnswers,
  otherwiseAnswered,
  type Property,
  relations,
  type Subject,
  show,
  type World,
  withOneAnswer,
} from '../../src/index.ts';

const samplesOf = (world: World) => world.hello.ops.reward?.samples ?? [];
const sampled: Need = (world) =>
  samplesOf(world).length > 0 ? undefined : 'op `reward` declares no samples: see its capability';

const given = (world: World) => graded(samplesOf(world));

const oneAnswer: Need = (world) =>
  withOneAnswer(samplesOf(world)).length > 0
    ? undefined
    : 'no sample of op `reward` has a wrong completion that is the right one with another answer instead of the reference';
const another: Need = (world) =>
  otherAnswers(samplesOf(world)).length > 0
    ? undefined
    : 'of the samples of op `reward` whose completions differ in the answer alone, none has an integer as its reference, or words where another one has other words';

/** The tokens of a text: the trainer's own where the tokenizer is known. Otherwise ids that say how many they are. */
function idsOf(text: string, world: World): number[] {
  if (world.tokenizer !== undefined) return world.tokenizer.encode(text);
  // Neither as many as characters nor as bytes or words.
  return Array.from({ length: Math.ceil(text.length / 3) }, (_, at) => at % MADE_UP_IDS);
}
const MADE_UP_IDS = 32;

function argsOf(rows: readonly GradedRow[], world: World): Args<'reward'> {
  return {
    prompts: rows.map(({ prompt }) => prompt),
    completions: rows.map(({ completion }) => completion),
    references: rows.map(({ reference }) => reference),
    completion_ids: rows.map(({ completion }) => idsOf(completion, world)),
  };
}

const ask = (subject: Subject, rows: readonly GradedRow[]): Promise<Ok<'reward'>> =>
  subject.ask('reward', argsOf(rows, subject));

/** Beginning and length of a text, enough to know it by. */
const quoted = (text: string): string =>
  text.length <= SHOWN
    ? JSON.stringify(text)
    : `${JSON.stringify(text.slice(0, SHOWN))}... (${text.length} characters)`;
const SHOWN = 48;

/** `row` with a sample's right or wrong answer in the place of its own. */
function answered(row: GradedRow, kind: 'right' | 'wrong', world: World): GradedRow | undefined {
  const sample = samplesOf(world).find(
    ({ prompt, reference }) => row.prompt.startsWith(prompt) && reference === row.reference,
  );
  return sample === undefined ? undefined : { ...row, kind, completion: sample[kind] };
}

/** `row` as an answer to the question of the next sample. */
function toAnother(row: GradedRow, world: World): GradedRow[] {
  const samples = samplesOf(world);
  const own = samples.findIndex(
    ({ prompt, reference }) => prompt === row.prompt && reference === row.reference,
  );
  const other = samples[(own + 1) % samples.length];
  return other === undefined || other === samples[own]
    ? []
    : [{ ...row, kind: 'any', prompt: other.prompt, reference: other.reference }];
}

/**
 * Asks for `left` and `right` of every row, in one batch, and gives the first pair that is not in order. Each `left` answers another
 * question first: what is remembered of a completion alone is then of that one.
 */
async function compared(
  subject: Subject,
  { rows }: Graded,
  left: (row: GradedRow) => GradedRow | undefined,
  right: (row: GradedRow) => GradedRow | undefined,
  wrong: (left: number, right: number) => boolean,
  say: (pair: { left: GradedRow; right: GradedRow; values: readonly [number, number] }) => Finding,
): Promise<Finding | undefined> {
  const pairs = rows.flatMap((row) => {
    const [one, other] = [left(row), right(row)];
    return one === undefined || other === undefined ? [] : [[one, other] as const];
  });
  if (pairs.length === 0) return discard('no row is of a sample that the trainer declares', 'trainer');
  const before = pairs.flatMap(([one]) => toAnother(one, subject));
  const { rewards } = await ask(subject, [...before, ...pairs.flat()]);
  for (const [at, [one, other]] of pairs.entries()) {
    const place = before.length + 2 * at;
    const values = [rewards[place] ?? Number.NaN, rewards[place + 1] ?? Number.NaN] as const;
    if (wrong(...values)) return say({ left: one, right: other, values });
  }
  return undefined;
}

const base = {
  stage: 'reward',
  ops: ['reward'],
  needs: [sampled],
  given,
  labels: gradedLabels,
} as const;

export const rewardProperties: readonly Property<Graded>[] = [
  {
    ...base,
    level: 'must',
    id: 'reward/right-answers-score-above-wrong-ones',
    title: 'A right answer scores above a wrong answer to the same prompt',
    why: 'A grader that fails without an error gives every answer the same reward: all advantages are 0, and nothing is trained.',
    catches: ['VAL-08'],
    check: (subject, drawn) =>
      compared(
        subject,
        drawn,
        (row) => answered(row, 'right', subject),
        (row) => answered(row, 'wrong', subject),
        (right, wrong) => !(right > wrong),
        ({ left, right, values: [more, less] }) => ({
          kind: 'not above',
          sentence: `The right answer ${quoted(left.completion)} to ${quoted(left.prompt)} scores ${show(more)}, the wrong one ${quoted(right.completion)} ${show(less)}.`,
        }),
      ),
  },
  {
    ...base,
    // Whoever teaches to say nothing rather than something wrong, pays for silence.
    level: 'should',
    id: 'reward/degenerate-text-is-no-better-than-a-wrong-answer',
    title: 'Nothing, or one token repeated, never scores above a well-formed wrong answer',
    why: 'Where "!!!!" is worth more than an attempt, the policy finds it, and writes nothing else for the rest of the run.',
    catches: [],
    given: (world) => graded(samplesOf(world), ['degenerate']),
    check: (subject, drawn) =>
      compared(
        subject,
        drawn,
        (row) => row,
        (row) => answered(row, 'wrong', subject),
        (degenerate, wrong) => degenerate > wrong,
        ({ left, right, values: [more, less] }) => ({
          kind: 'degenerate',
          sentence: `The completion ${quoted(left.completion)} scores ${show(more)}, above ${show(less)} of the well-formed wrong answer ${quoted(right.completion)}.`,
        }),
      ),
  },
  {
    ...base,
    // A measure that is content with the right answer inside a longer one is in use, as is a judge that is a model.
    level: 'should',
    id: 'reward/another-answer-is-not-the-right-one',
    title: 'Another number, or the answer to another question, scores below the right answer',
    why: 'A grader that looks for the digits of the answer, drops its sign, or knows all answers of the set is content with guesses.',
    catches: [],
    needs: [sampled, oneAnswer, another],
    given: (world) => otherwiseAnswered(samplesOf(world)),
    check: (subject, drawn) =>
      compared(
        subject,
        drawn,
        (row) => answered(row, 'right', subject),
        (row) => row,
        (right, other) => !(right > other),
        ({ left, right, values: [more, less] }) => ({
          kind: 'not above',
          sentence: `The answer ${quoted(right.completion)} to ${quoted(left.prompt)} scores ${show(less)}, the right one ${quoted(left.completion)} ${show(more)}.`,
        }),
      ),
  },
  {
    ...base,
    // What looks for the answer anywhere in the text is a measure with a name of its own.
    level: 'should',
    id: 'reward/right-and-wrong-together-are-not-right',
    title: 'A right answer and a wrong one together score below the right one alone, in one order at least',
    why: 'A grader that is content with the right answer anywhere pays for a list of answers, and the policy learns to list them.',
    catches: [],
    needs: [sampled, oneAnswer],
    given: (world) => graded(withOneAnswer(samplesOf(world)), ['right']),
    async check(subject, { rows }) {
      const pairs = rows.flatMap((row) => {
        const wrong = answered(row, 'wrong', subject);
        return wrong === undefined ? [] : [{ row, wrong }];
      });
      const both = pairs.flatMap(({ row, wrong }) => [
        row,
        { ...row, completion: `${row.completion}\n${wrong.completion}` },
        { ...row, completion: `${wrong.completion}\n${row.completion}` },
      ]);
      const { rewards } = await ask(subject, both);
      for (const [at, { row }] of pairs.entries()) {
        const [alone = Number.NaN, first = Number.NaN, last = Number.NaN] = rewards.slice(3 * at, 3 * at + 3);
        // One of the two orders may be right: whether the first answer counts or the last one is the grader's own.
        if (!(first >= alone && last >= alone)) continue;
        return {
          kind: 'both',
          sentence: `The right answer ${quoted(row.completion)} to ${quoted(row.prompt)} scores ${show(alone)}; with the wrong one after it ${show(first)}, with the wrong one before it ${show(last)}.`,
        };
      }
      return undefined;
    },
  },
  {
    ...base,
    level: 'must',
    id: 'reward/lengths-count-the-tokens',
    title: 'The length that a reward counts is the number of the completion’s tokens',
    why: 'Counting characters, bytes or words instead of tokens makes a length penalty depend on the language.',
    catches: ['VAL-07'],
    coverage: { 'unequal lengths': 0.1, 'empty completion': 0.03 },
    async check(subject, { rows }) {
      const { lengths } = await ask(subject, rows);
      if (lengths === undefined) return discard('the reward counts no lengths', 'trainer');
      const args = argsOf(rows, subject);
      const row = rows.findIndex((_, at) => lengths[at] !== args.completion_ids[at]?.length);
      return row < 0
        ? undefined
        : {
            kind: 'length',
            sentence: `The completion ${quoted(rows[row]?.completion ?? '')} of row ${row} has ${args.completion_ids[row]?.length} tokens, the reward counts ${lengths[row]}.`,
          };
    },
  },
  ...relations<'reward', Graded>({
    op: 'reward',
    stage: 'reward',
    noun: 'The reward',
    given,
    args: ({ rows }, world) => argsOf(rows, world),
    labels: gradedLabels,
    needs: [sampled],
    coverage: {
      'several rows': 0.2,
      'same completion twice': 0.15,
      'unequal lengths': 0.1,
      'multi-byte text': 0.1,
    },
    allBut: [],
    relations: {
      finite: { catches: ['VAL-08', 'NUM-01'] },
      // Rewards that rank the answers of a prompt against each other are in use.
      'batch-mates': {
        level: 'should',
        catches: [],
        why: 'A reward that depends on its neighbours is scaled anew in every batch, and no two steps agree on what is good.',
      },
      // A judge that samples its verdict is one.
      'same-twice': { level: 'should', catches: [] },
      stacked: { level: 'should' },
    },
  }),
];
