// The labels of the turns before the last answer. Where each answer stands is measured by tokenising the conversation
// up to it through the same route; a template that rewrites earlier turns has no such prefixes, and the case says
// nothing.
import {
  behindTurn,
  type Coverage,
  type Dialogue,
  discard,
  type Finding,
  type Ids,
  IGNORE_INDEX,
  type Message,
  type Need,
  type Property,
  type Role,
  route,
  type Subject,
  stripOf,
  tokenAt,
  type World,
} from '../../src/index.ts';
import { knownStops, promptBefore, renderedBy, stopIds, templateArg } from './conversation.ts';
import { base } from './tokenize.ts';

/** Columns of one answer in the training row. */
interface Answer {
  /** Behind the generation prompt. */
  readonly from: number;
  /** Behind its stop token; 0 where no stop ids are known. */
  readonly to: number;
  /** Behind what the template writes after the stop token; nobody's business up to here. */
  readonly rest: number;
}

interface Turns {
  readonly ids: Ids;
  readonly labels: Ids;
  /** Every answer, the last one included. */
  readonly answers: readonly Answer[];
}

async function turnsOf(subject: Subject, drawn: Dialogue): Promise<Turns> {
  const tokenize = (messages: readonly Message[], generationPrompt: boolean) =>
    subject.ask('tokenize', {
      route: 'sft',
      messages,
      add_generation_prompt: generationPrompt,
      ...templateArg(drawn),
    });
  const { input_ids: ids, labels } = await tokenize(drawn.messages, false);
  if (labels === undefined) return discard('the answer has no labels', 'trainer');
  const stops = stopIds(subject);
  const answers: Answer[] = [];
  for (const [at, { role }] of drawn.messages.entries()) {
    if (role !== 'assistant') continue;
    const history = drawn.messages.slice(0, at);
    const { input_ids: prompt } = await tokenize(history, true);
    const before = promptBefore(subject, drawn, history, { prompt, row: ids });
    const { input_ids: through } = await tokenize(drawn.messages.slice(0, at + 1), false);
    // A stop token that the trainer puts behind a whole row is not there when the conversation goes on.
    const whole = agreeing(ids, through) === through.length - 1 ? through.slice(0, -1) : through;
    if (agreeing(ids, before) < before.length || agreeing(ids, whole) < whole.length)
      return discard('earlier turns are tokenised otherwise when the conversation goes on', 'trainer');
    const stop = whole.findIndex((id, column) => column >= before.length && stops?.includes(id));
    if (stops !== undefined && stop < 0) return discard('an answer has no stop token of its own', 'trainer');
    answers.push({ from: before.length, to: stop + 1, rest: restOf(subject, ids, stop, whole.length) });
  }
  return { ids, labels, answers };
}

/**
 * Behind what the template writes after the stop token. A trainer may strip it off a row that ends there, so that the
 * conversation so far does not show it.
 */
function restOf({ tokenizer }: Subject, ids: Ids, stop: number, whole: number): number {
  return tokenizer === undefined || stop < 0 ? whole : Math.max(whole, behindTurn(tokenizer, ids, stop + 1));
}

/** Length of the longest prefix that `part` shares with `row`. */
function agreeing(row: Ids, part: Ids): number {
  const first = part.findIndex((id, at) => row[at] !== id);
  return first < 0 ? part.length : first;
}

function turnFinding(
  subject: Subject,
  kind: string,
  { ids, labels, answers }: Turns,
  expected: readonly (number | undefined)[],
  words: (token: string) => string,
): Finding | undefined {
  const marks = expected.flatMap((want, column) =>
    want === undefined || want === labels[column] ? [] : [column],
  );
  const [first] = marks;
  if (first === undefined) return undefined;
  const inAnswer = (column: number): boolean => answers.some(({ from, to }) => column >= from && column < to);
  return {
    kind,
    sentence: words(tokenAt(subject, ids, first)),
    strips: [
      stripOf(subject, {
        row: 0,
        ids,
        roles: ids.map((_, column): Role => (inAnswer(column) ? 'completion' : 'prompt')),
        tracks: { expected, observed: labels },
        marks,
      }),
    ],
  };
}

/** A template that writes earlier turns otherwise when the conversation goes on leaves nothing to measure them by. */
function severalTurns(world: World): Coverage {
  const turn: readonly Message[] = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'a' },
  ];
  const sends = world.hello.ops.tokenize?.chat_template === true;
  const [one, two] = sends
    ? []
    : [turn, [...turn, ...turn]].map((messages) => renderedBy(world, null, messages, false));
  const keeps =
    one === undefined ||
    two === undefined ||
    !('text' in one && 'text' in two) ||
    two.text.startsWith(one.text);
  return keeps ? { 'several turns': 0.3 } : {};
}

const declaresTurns: Need = ({ semantics }) =>
  semantics.sft_target === 'assistant'
    ? undefined
    : 'semantics.sft_target is not declared as "assistant": only then are earlier answers to be trained';

const declaresAnswers: Need = ({ semantics }) =>
  semantics.sft_target === 'assistant' || semantics.sft_target === 'last-assistant'
    ? undefined
    : 'semantics.sft_target is not declared as "assistant" or "last-assistant"';

export const turnLabelProperties: readonly Property<Dialogue>[] = [
  {
    ...base,
    id: 'tokenize/every-answer-is-trained',
    title:
      'Where SFT is declared to train every assistant turn, earlier answers are trained through their stop tokens',
    why: 'Trained on last answers only, long dialogues teach a fraction of what they were paid for, and the declared target is another one.',
    catches: ['MSK-05', 'MSK-09', 'EOS-07', 'TOK-06'],
    coverage: severalTurns,
    needs: [route('tokenize', 'sft'), knownStops, declaresTurns],
    async check(subject, drawn) {
      const turns = await turnsOf(subject, drawn);
      const expected = turns.ids.map((id, column) =>
        // Nothing predicts the first token of a row.
        column > 0 && turns.answers.some(({ from, to }) => column >= from && column < to) ? id : undefined,
      );
      return turnFinding(
        subject,
        'untrained',
        turns,
        expected,
        (token) => `${token} belongs to an answer of the assistant, but SFT does not train it.`,
      );
    },
  },
  {
    ...base,
    id: 'tokenize/only-answers-are-trained',
    settles: ['sft_target'],
    title:
      'Questions and headers of every turn are not trained, nor earlier answers where only the last is declared',
    why: 'A mask that is right for the last turn and wrong for those before teaches the model to write the user.',
    catches: ['MSK-01', 'MSK-05', 'TOK-06'],
    coverage: severalTurns,
    needs: [route('tokenize', 'sft'), declaresAnswers],
    async check(subject, drawn) {
      const turns = await turnsOf(subject, drawn);
      const open = turns.answers.slice(subject.semantics.sft_target === 'assistant' ? 0 : -1);
      const expected = turns.ids.map((_, column) =>
        open.some(({ from, rest }) => column >= from && column < rest) ||
        column >= (turns.answers.at(-1)?.from ?? 0)
          ? undefined
          : IGNORE_INDEX,
      );
      return turnFinding(
        subject,
        'trained',
        turns,
        expected,
        (token) => `${token} belongs to no answer that is to be trained, but SFT trains on it.`,
      );
    },
  },
];
