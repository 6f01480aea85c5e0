// What of a template's own marks is trained, and rows of which nothing else is.

import { stopsOf } from '../shape/recognise.ts';
import { columnsWhere, fault, type Rule, wordsOf } from './rule.ts';

/** Words of an answer from which it is odd that none is trained. */
const SEVERAL = 3;

/** Marks alone are learnt: where answers end, and nothing of what they say. */
export const answersAreTrained: Rule = (row, options, say) => {
  if (row.given === undefined || options.promptsOnly || !row.trained.some((trained, at) => trained && at > 0))
    return [];
  const wanted = row.answers
    .filter(({ told }) => told !== false)
    .map((answer) => wordsOf(answer, row, options));
  const all = wanted.flat();
  const [first] = all;
  if (first === undefined || all.length < SEVERAL || all.some((at) => row.trained[at])) return [];
  // A prompt that is trained has a flag of its own.
  if (row.said.some(({ from, to }) => row.trained.slice(from, to).includes(true))) return [];
  const trained = row.trained.indexOf(true);
  return [
    fault(
      'answers-untrained',
      `${say(trained)} is trained, and none of the ${all.length} tokens that the answers consist of.`,
      [trained],
    ),
  ];
};

/** What the template writes around messages that others say, and in front of an answer. */
export const templateIsNot: Rule = (row, options, say) => {
  if (
    row.given === undefined ||
    options.promptsTrained ||
    options.trainOn === 'all' ||
    row.answers.length === 0
  )
    return [];
  const stops = stopsOf(options);
  const begins = new Set(row.answers.map(({ from }) => from));
  const marks = new Set(
    row.turns.flatMap(({ name, from, to }) => {
      if (name === 'assistant') return begins.has(from) ? [] : [from];
      if (!OTHERS.has(name)) return [];
      return Array.from({ length: to - from }, (_, at) => from + at).filter((at) =>
        stops.has(row.ids[at] ?? -1),
      );
    }),
  );
  const wrong = columnsWhere(row, (at) => row.trained[at] === true && marks.has(at) && at > row.real.from);
  const [first] = wrong;
  // Rows that train everything have a flag of their own.
  const untrained = columnsWhere(row, (at) => at > row.real.from && at < row.real.to && !row.trained[at]);
  return first === undefined || untrained.length === 0
    ? []
    : [fault('template-trained', `${say(first)} is written by the template, and trained.`, wrong)];
};

const OTHERS = new Set(['system', 'user', 'tool', 'developer']);
