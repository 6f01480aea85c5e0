// The labels of the turns before the last answer. Where each answer stands is measured by tokenising the conversation
// up to it through the same route; a template that rewrites earlier turns has no such prefixes, and the case says
// nothing.
import {
  asksOnce,
  behindTurn,
  type Coverage,
  type Dialogue,
  discard,
  type Ids,
  IGNORE_INDEX,
  type Message,
  type Need,
  type Property,
  type Subject,
  type World,
} from '../../src/index.ts';
import { knownStops, promptBefore, renderedBy, stopIds } from './conversation.ts';
import { labelFinding, ofTokenize, type RowRule, type TrainingRow } from './training-row.ts';
import { trainedWords, untrainedWords } from './turn-words.ts';

/** Columns of one answer in the training row. */
export interface Answer {
  /** Behind the generation prompt. */
  readonly from: number;
  /** Behind its stop token; 0 where no stop ids are known. */
  readonly to: number;
  /** Behind what the template writes after the stop token; nobody's business up to here. */
  readonly rest: number;
}

/** Every answer, the last one included. */
export async function answersIn(row: TrainingRow): Promise<readonly Answer[]> {
  const { subject, dialogue, ids } = row;
  const stops = stopIds(subject);
  const answers: Answer[] = [];
  for (const [at, { role }] of dialogue.messages.entries()) {
    if (role !== 'assistant') continue;
    const history = dialogue.messages.slice(0, at);
    const prompt = await row.idsOf(history, true);
    const before = promptBefore(subject, dialogue, history, { prompt, row: ids });
    const through =
      at === dialogue.messages.length - 1 ? ids : await row.idsOf(dialogue.messages.slice(0, at + 1), false);
    // A stop token that the trainer puts behind a whole row is not there when the conversation goes on.
    const whole = agreeing(ids, through) === through.length - 1 ? through.slice(0, -1) : through;
    if (agreeing(ids, before) < before.length || agreeing(ids, whole) < whole.length)
      return discard('earlier turns are tokenised otherwise when the conversation goes on', 'trainer');
    const stop = whole.findIndex((id, column) => column >= before.length && stops?.includes(id));
    if (stops !== undefined && stop < 0) return discard('an answer has no stop token of its own', 'trainer');
    answers.push({ from: before.length, to: stop + 1, rest: restOf(subject, ids, stop, whole.length) });
  }
  return answers;
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

/** A template that writes earlier turns otherwise when the conversation goes on leaves nothing to measure them by. */
function severalTurns(world: World): Coverage {
  if (asksOnce(world, 'tokenize', 'sft_batch', 'preference_batch')) return {};
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

const within = (answers: readonly Answer[], column: number): boolean =>
  answers.some(({ from, to }) => column >= from && column < to);

export const turnRules: readonly RowRule[] = [
  {
    name: 'every-answer-is-trained',
    title:
      'Where SFT is declared to train every assistant turn, earlier answers are trained through their stop tokens',
    why: 'Trained on last answers only, long dialogues teach a fraction of what they were paid for, and the declared target is another one.',
    catches: ['MSK-05', 'MSK-09', 'EOS-07', 'TOK-06'],
    coverage: severalTurns,
    needs: [knownStops, declaresTurns],
    async check(row) {
      const answers = await answersIn(row);
      return labelFinding(
        row,
        'untrained',
        // Nothing predicts the first token of a row.
        row.ids.map((id, column) => (column > 0 && within(answers, column) ? id : undefined)),
        (column) => within(answers, column),
        (token, columns) => untrainedWords(token, row.trains, answers, columns),
      );
    },
  },
  {
    name: 'only-answers-are-trained',
    settles: ['sft_target'],
    title:
      'Questions and headers of every turn are not trained, nor earlier answers where only the last is declared',
    why: 'A mask that is right for the last turn and wrong for those before teaches the model to write the user.',
    catches: ['MSK-01', 'MSK-05', 'TOK-06'],
    coverage: severalTurns,
    needs: [declaresAnswers],
    async check(row) {
      const answers = await answersIn(row);
      const open = answers.slice(row.subject.semantics.sft_target === 'assistant' ? 0 : -1);
      return labelFinding(
        row,
        'trained',
        row.ids.map((_, column) =>
          open.some(({ from, rest }) => column >= from && column < rest) ||
          column >= (answers.at(-1)?.from ?? 0)
            ? undefined
            : IGNORE_INDEX,
        ),
        (column) => within(answers, column),
        (token, columns) => trainedWords(token, row.trains, answers, columns),
      );
    },
  },
];

export const turnLabelProperties: readonly Property<Dialogue>[] = turnRules.map(ofTokenize);
