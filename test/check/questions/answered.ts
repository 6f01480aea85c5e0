// A correct trainer that answers what it is asked: each printed line that is true of it is put into its hello as it stands, until
// nothing is asked, and what is said of it then is returned.
import { isDeepStrictEqual } from 'node:util';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import { type Property, type PropertyResult, run, type Semantics } from '../../../src/index.ts';
import { decodeHello } from '../../../src/protocol/hello.ts';
import { type Correct, falsePositivesOf } from '../../conformance/correct.ts';

export interface Question {
  readonly id: string;
  /** What it says and what answers it, as printed. */
  readonly words: string;
  readonly answers: readonly string[];
  /** The line that was put into the hello. */
  readonly answer: string;
}

export interface Answered {
  readonly questions: readonly Question[];
  /** A line for each failure behind an answer, question that was asked twice, or question whose answers are all untrue. */
  readonly wrong: readonly string[];
}

interface How {
  readonly properties: readonly Property[];
  readonly cases: number;
  readonly seed?: number;
}

/** More lines than any trainer needs. */
const MOST = 6;

export async function answered(correct: Correct, { properties, cases, seed = 5 }: How): Promise<Answered> {
  const { trainer, tokenizer } = await correct.open();
  const questions: Question[] = [];
  let semantics: Semantics = trainer.hello.semantics ?? {};
  try {
    for (let round = 0; round < MOST; round++) {
      const hello = { ...trainer.hello, semantics };
      const told = { ...trainer, hello };
      const measured = await measureUndeclared({ trainer: told, tokenizer });
      const chosen = properties.filter(({ ops }) => ops.every((op) => hello.ops[op] !== undefined));
      const results = await run(
        {
          trainer: told,
          tokenizer,
          measured,
          properties: chosen,
          seed,
          cases,
          command: 'test',
          shrinkMilliseconds: 0,
        },
        () => undefined,
      );
      const failures = falsePositivesOf(
        results.filter(({ verdict }) => verdict === 'fail' || verdict === 'error'),
        correct,
      );
      if (failures.length > 0) return { questions, wrong: failures };
      const [asked] = results.filter(({ verdict }) => verdict === 'ask');
      if (asked === undefined) return { questions, wrong: [] };
      const answers = answersIn(asked);
      const answer = answers.find((line) => isTrueOf(correct.is ?? {}, line));
      const words = `${asked.reason ?? ''} ${asked.failure?.finding?.sentence ?? ''}`;
      if (answer === undefined)
        return { questions, wrong: [`${asked.id}: none of ${answers.join('; ')} is true: ${words}`] };
      if (questions.some((known) => known.answer === answer))
        return { questions, wrong: [`${asked.id} asks again after ${answer}: ${words}`] };
      questions.push({ id: asked.id, words, answers, answer });
      semantics = { ...semantics, ...declarationOf(answer) };
    }
    return { questions, wrong: [`is asked more than ${MOST} questions`] };
  } finally {
    await trainer.stop();
  }
}

export const answersIn = ({ answers, failure }: PropertyResult): readonly string[] => [
  ...(answers ?? []),
  ...(failure?.finding?.answers ?? []),
];

/** A line as a user copies it into a hello, without the words that explain it. */
export function declarationOf(line: string): Semantics {
  const [declaration = ''] = line.split('  (');
  const decoded = decodeHello({ protocol: 1, name: 'x', ops: {}, semantics: JSON.parse(`{${declaration}}`) });
  if ('complaint' in decoded) throw new Error(`${line}: ${decoded.complaint}`);
  return decoded.ok.semantics ?? {};
}

/** Of a list, what the trainer does is among what the line declares. */
function isTrueOf(is: Semantics, line: string): boolean {
  return Object.entries(declarationOf(line)).every(([item, value]) => {
    const meant: unknown = is[item as keyof Semantics];
    return Array.isArray(value) && Array.isArray(meant)
      ? value.every((each) => meant.includes(each))
      : isDeepStrictEqual(meant, value);
  });
}
