// Presence, frequency and repetition penalties on next-token logits. Presence and frequency count generated tokens
// only; repetition includes the prompt by definition.
import {
  type Args,
  bandOf,
  type Finding,
  type Ids,
  many,
  numberFinding,
  type Penalised,
  type Property,
  padRows,
  penalised,
  penalisedLabels,
  penalize,
  relations,
  type Subject,
  show,
  type World,
} from '../../src/index.ts';

const kinds = (world: World) => world.hello.ops.penalties?.kinds ?? ['presence', 'frequency'];
const given = (world: World) => penalised(kinds(world));
const base = {
  stage: 'penalties',
  level: 'must',
  ops: ['penalties'],
  given,
  labels: penalisedLabels,
} as const;

function argsOf(drawn: Penalised, extra = 0): Args<'penalties'> {
  const prompts = drawn.rows.map(({ prompt }) => prompt);
  const width = Math.max(...prompts.map((row) => row.length)) + extra;
  // All rows have generated the same number of tokens: they decode in step.
  const left = padRows(prompts, { side: 'left', pad: drawn.pad, width });
  return {
    input_ids: left.ids.map((row, at) => [...row, ...(drawn.rows[at]?.generated ?? [])]),
    attention_mask: left.attention_mask.map((row, at) => [
      ...row,
      ...(drawn.rows[at]?.generated ?? []).map(() => 1),
    ]),
    prompt_width: width,
    prompt_ids: prompts,
    completion_ids: drawn.rows.map(({ generated }) => generated),
    logits: drawn.rows.map(({ logits }) => logits),
    presence_penalty: drawn.presence,
    frequency_penalty: drawn.frequency,
    repetition_penalty: drawn.repetition,
  };
}

function logitFinding(
  subject: Subject,
  kind: string,
  observed: readonly Ids[],
  expected: readonly Ids[],
  words: (row: number, id: number) => string,
): Finding | undefined {
  const band = bandOf(subject);
  for (const [row, values] of expected.entries()) {
    const wrong = values.flatMap((value, id) => (band.close(observed[row]?.[id], value) ? [] : [id]));
    const [first] = wrong;
    if (first === undefined) continue;
    return numberFinding({
      kind,
      sentence: `The logit of id ${first} in row ${row} is ${show(observed[row]?.[first])}; ${words(row, first)}`,
      band,
      pairs: wrong.map((id) => ({
        where: `row ${row}, id ${id}`,
        expected: values[id],
        observed: observed[row]?.[id],
      })),
    });
  }
  return undefined;
}

/** Repetition counts the prompt by definition; the other two alone must not. */
const withoutRepetition = (drawn: Penalised): Penalised => ({ ...drawn, repetition: 1 });

export const penaltiesProperties: readonly Property<Penalised>[] = [
  {
    ...base,
    id: 'penalties/first-step-ignores-the-prompt',
    title:
      'Before anything is generated, presence and frequency penalties leave every logit alone, whatever the prompt',
    why: 'Penalties that count the prompt push the policy off every word of the question, and relatively towards the stop token: answers of one token.',
    catches: ['PEN-01', 'PEN-03'],
    coverage: { 'repeated prompt token': 0.1 },
    async check(subject, drawn) {
      const first = {
        ...withoutRepetition(drawn),
        rows: drawn.rows.map((row) => ({ ...row, generated: [] })),
      };
      const args = argsOf(first);
      const { logits } = await subject.ask('penalties', args);
      return logitFinding(subject, 'prompt', logits, args.logits, (row, id) => {
        const count = first.rows[row]?.prompt.filter((other) => other === id).length ?? 0;
        return `it was ${show(args.logits[row]?.[id])}, nothing has been generated, and the id occurs ${many(count, 'time')} in the prompt.`;
      });
    },
  },
  {
    ...base,
    id: 'penalties/equal-the-definition',
    title:
      'presence and frequency count generated tokens; repetition counts prompt and generated tokens once',
    why: 'A penalty with another scope or sign is another sampling distribution than the one that is configured.',
    catches: ['PEN-01', 'PEN-02', 'PEN-03', 'PEN-04', 'LP-17'],
    coverage: { 'repeated generated token': 0.1 },
    async check(subject, drawn) {
      const args = argsOf(drawn);
      const { logits } = await subject.ask('penalties', args);
      // Repetition before the other two, or behind them: no standard orders them.
      const [before, behind] = [false, true].map((repetitionLast) =>
        drawn.rows.map((row) =>
          penalize(row.logits, {
            ...row,
            presence: drawn.presence,
            frequency: drawn.frequency,
            repetition: drawn.repetition,
            repetitionLast,
          }),
        ),
      );
      const band = bandOf(subject);
      const fits = behind?.every((row, at) => row.every((value, id) => band.close(logits[at]?.[id], value)));
      if (fits === true) return undefined;
      const expected = before ?? [];
      return logitFinding(subject, 'value', logits, expected, (row, id) => {
        const count = drawn.rows[row]?.generated.filter((other) => other === id).length ?? 0;
        return `it was ${show(args.logits[row]?.[id])}, the id was generated ${many(count, 'time')}, and presence ${drawn.presence}, frequency ${drawn.frequency}, repetition ${drawn.repetition} give ${show(expected[row]?.[id])}.`;
      });
    },
  },
  {
    ...base,
    id: 'penalties/padding-is-not-counted',
    title: 'Two more columns of left padding change no logit',
    why: 'Where pad equals the stop token, counted padding punishes stopping in proportion to the longest prompt of the batch.',
    catches: ['PEN-03'],
    async check(subject, drawn) {
      const before = await subject.ask('penalties', argsOf(drawn));
      const after = await subject.ask('penalties', argsOf(drawn, 2));
      return logitFinding(
        subject,
        'padding',
        after.logits,
        before.logits,
        (row, id) => `it is ${show(before.logits[row]?.[id])} without the extra padding (id ${drawn.pad}).`,
      );
    },
  },
  {
    ...base,
    id: 'penalties/neutral-settings-change-nothing',
    title: 'Penalties of 0 (and a repetition penalty of 1) leave every logit alone',
    why: 'A penalty that cannot be turned off biases every baseline run.',
    catches: ['PEN-04', 'PEN-02'],
    async check(subject, drawn) {
      const args = argsOf({ ...drawn, presence: 0, frequency: 0, repetition: 1 });
      const { logits } = await subject.ask('penalties', args);
      return logitFinding(
        subject,
        'neutral',
        logits,
        args.logits,
        (row, id) => `all penalties are neutral and it was ${show(args.logits[row]?.[id])}.`,
      );
    },
  },
  ...relations<'penalties', Penalised>({
    ...base,
    op: 'penalties',
    noun: 'A penalised logit',
    args: (drawn) => argsOf(drawn),
    allBut: [],
  }),
];
