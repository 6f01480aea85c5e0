// What is wrong with a row of tokens. Only what no correct row has: every rule names the legal row that it must not blame.
import { tokenText } from '../tokenizers/text.ts';
import { IGNORE_INDEX } from '../vocabulary.ts';
import type { Fault } from './flags.ts';
import type { TokenRow, ViewOptions } from './row.ts';
import { ofTheVocabulary, oneBos, placeholdersAreNot } from './rules/ids.ts';
import { positionsGoOn } from './rules/positions.ts';
import { columnsWhere, fault, isWord, type Rule, wordsOf } from './rules/rule.ts';
import { answersAreTrained, templateIsNot } from './rules/template.ts';
import { stopsOf } from './shape/recognise.ts';

export function judge(row: TokenRow, options: ViewOptions): Fault[] {
  const say = (column: number): string => {
    const id = row.ids[column] ?? -1;
    return options.tokenizer?.token(id) === undefined
      ? `Token ${column} (id ${id})`
      : `Token ${column} '${tokenText(options.tokenizer, id)}' (id ${id})`;
  };
  return RULES.flatMap((rule) => rule(row, options, say));
}

// --- helpers ---

/** Everything is trained, BOS perhaps not: a convention of its own, in which there is no prompt. */
function trainsAll({ trained, real }: TokenRow): boolean {
  for (let at = real.from + 1; at < real.to; at++) if (!trained[at]) return false;
  return true;
}

const nothingTrained: Rule = (row, { promptsOnly }) => {
  if (promptsOnly) return [];
  // What stands first is no target: nothing predicts it.
  if (row.trained.some((trained, at) => trained && at > 0)) return [];
  const off = row.answers.length > 0 && row.answers.every(({ told }) => told === false);
  const cut =
    row.lost > 0
      ? ` ${row.lost} tokens beyond the length limit are lost.`
      : off
        ? ' The train flags of its messages turn every answer off.'
        : '';
  return [fault('nothing-trained', `None of the row's ${row.ids.length} tokens is trained.${cut}`)];
};

const labelsAreTokens: Rule = (row, _, say) => {
  const { labels } = row.given ?? {};
  if (labels === undefined) return [];
  const other = columnsWhere(row, (at) => labels[at] !== IGNORE_INDEX && labels[at] !== row.ids[at]);
  const [first] = other;
  if (first === undefined) return [];
  const shifted = labels.every(
    (label, at) => label === IGNORE_INDEX || at + 1 >= labels.length || label === row.ids[at + 1],
  );
  const why = shifted ? ' Each label is the token after: they were shifted already.' : '';
  return [fault('label-is-another-token', `${say(first)} is labelled ${labels[first]}.${why}`, other)];
};

const paddingIsNot: Rule = (row, options, say) => {
  const { attention } = row.given ?? {};
  const outside = (at: number): boolean => attention?.[at] === 0 || at < row.real.from || at >= row.real.to;
  const pad = options.tokenizer?.padTokenId;
  // One stop token behind a row is its end; of three, the last two are padding by any reading.
  let run = row.ids.length;
  while (run > 0 && row.ids[run - 1] === pad) run--;
  const tail =
    row.ids.length - run > 2 && attention === undefined && row.given !== undefined ? run + 1 : row.ids.length;
  const wrong = columnsWhere(row, (at) => row.trained[at] === true && (outside(at) || at >= tail));
  const [first] = wrong;
  return first === undefined
    ? []
    : [fault('padding-trained', `${say(first)} is padding, and trained.`, wrong)];
};

/** Legal in pre-training alone, which only the user can say. */
const notEverything: Rule = (row, { trainOn, promptsTrained }, say) => {
  if (trainOn === 'all' || promptsTrained || row.answers.length === 0 || !trainsAll(row)) return [];
  const spoken = row.said.find(({ from, to }) => to > Math.max(from, row.real.from + 1));
  if (spoken === undefined) return [];
  const first = Math.max(spoken.from, row.real.from + 1);
  const id = row.given === undefined ? 'turns-in-text' : 'everything-trained';
  return [
    fault(
      id,
      `All ${row.real.to - row.real.from} tokens are trained; ${say(first)} is said by the ${speakerAt(row, first)}.`,
      [first],
    ),
  ];
};

const speakerAt = ({ turns }: TokenRow, column: number): string =>
  turns.find(({ from, to }) => column >= from && column < to)?.name ?? 'user';

/** What the row's own labels train, against what --train-on declares. */
const asDeclared: Rule = (row, options, say) => {
  const { trainOn } = options;
  if (trainOn === undefined || row.given === undefined) return [];
  const differ = (column: number, is: string): Fault[] => [
    fault('not-as-declared', `${say(column)} is ${is}, against --train-on ${trainOn}.`, [column]),
  ];
  if (trainOn === 'all') {
    // What stands first is no target.
    for (let at = row.real.from + 1; at < row.real.to; at++)
      if (!row.trained[at]) return differ(at, 'not trained');
    return [];
  }
  for (const [index, answer] of row.answers.entries()) {
    const wanted = answer.told ?? (trainOn === 'assistant' || index === row.answers.length - 1);
    const words = wordsOf(answer, row, options);
    const trained = words.filter((at) => row.trained[at]);
    const [first = -1, last = -1] = [trained[0], trained.at(-1)];
    if (!wanted && first >= 0) return differ(first, 'of an earlier answer, and trained');
    if (wanted && words[0] !== undefined && first < 0)
      return differ(words[0], 'of an answer, and none of it is trained');
    // Thoughts in front of an answer, and a stop token behind it, have flags of their own, or are a matter of choice.
    const hole = wanted ? words.find((at) => at > first && at < last && !row.trained[at]) : undefined;
    if (hole !== undefined) return differ(hole, 'within an answer, and not trained');
  }
  return [];
};

/** What the row's own labels train, against the train flags of its messages. */
const asFlagged: Rule = (row, options, say) => {
  if (row.given === undefined || options.trainOn === 'all') return [];
  for (const answer of row.answers) {
    const words = answer.told === undefined || answer.cut ? [] : wordsOf(answer, row, options);
    const [first] = words;
    const trained = words.find((at) => row.trained[at]);
    if (answer.told === false && trained !== undefined)
      return [
        fault('not-as-flagged', `${say(trained)} is trained, and its message says that it is not.`, [
          trained,
        ]),
      ];
    if (answer.told === true && first !== undefined && trained === undefined)
      return [
        fault('not-as-flagged', `${say(first)} is not trained, and its message says that it is.`, [first]),
      ];
  }
  return [];
};

const promptIsNot: Rule = (row, { promptsTrained }, say) => {
  if (promptsTrained || trainsAll(row)) return [];
  const straddling = new Set(row.straddles);
  const wrong = row.said.flatMap(({ from, to }) =>
    Array.from({ length: to - from }, (_, at) => from + at).filter(
      (at) => row.trained[at] && !straddling.has(at),
    ),
  );
  const [first] = wrong;
  if (first === undefined) return [];
  return [
    fault('prompt-trained', `${say(first)} is said by the ${speakerAt(row, first)}, and trained.`, wrong),
  ];
};

const answersEnd: Rule = (row, options, say) => {
  const faults: Fault[] = [];
  for (const { from, to, stop, cut } of row.answers) {
    const words = stop ?? to;
    const trained = row.trained.slice(from, words).includes(true);
    // Looked for only where it is near.
    const last = trained ? row.trained.lastIndexOf(true, to - 1) : -1;
    const unknown = row.given !== undefined && isUnknown(row, options, last);
    if (cut && row.trained.slice(from, to).includes(true)) {
      // A row that everything of is trained may be a piece of a longer text.
      if (row.lost > 0 || !trainsAll(row))
        faults.push(
          unknown
            ? unknownStop(last, say)
            : fault('truncated', `The row ends with ${say(to - 1)}, within an answer.`, [to - 1]),
        );
    } else if (stop !== undefined && trained && !row.trained[stop])
      faults.push(
        fault('stop-untrained', `${say(stop)} ends an answer that is trained, and is not trained itself.`, [
          stop,
        ]),
      );
    else if (stop === undefined && trained)
      faults.push(
        unknown
          ? unknownStop(last, say)
          : fault('no-stop', `No stop token follows ${say(to - 1)}, the last of an answer.`, [to - 1]),
      );
    const [first, second] = [row.trained[from], row.trained[from + 1]];
    if (
      row.given !== undefined &&
      first === false &&
      second === true &&
      words - from > 2 &&
      isWord(row, options, from)
    )
      faults.push(
        fault('answer-begins-late', `${say(from)} begins an answer and is not trained; what follows is.`, [
          from,
        ]),
      );
  }
  return faults;
};

/** The unknown token, where it has no other use: some tokenizers pad with it, or name it as their eos. */
function isUnknown({ ids }: TokenRow, { tokenizer, stops = [] }: ViewOptions, at: number): boolean {
  const unknown = tokenizer?.unkTokenId;
  const used = [tokenizer?.eosTokenId, tokenizer?.bosTokenId, tokenizer?.padTokenId, ...stops];
  return unknown !== undefined && ids[at] === unknown && !used.includes(unknown);
}

const unknownStop = (at: number, say: (column: number) => string): Fault =>
  fault('unknown-stop', `${say(at)} stands where the stop token of an answer should be.`, [at]);

/** Rows in which it is not known whose token is whose: what is trained in one run is an answer. */
const runsEnd: Rule = (row, options, say) => {
  const stops = stopsOf(options);
  if (row.answers.length > 0 || row.given === undefined || stops.size === 0 || trainsAll(row)) return [];
  const faults: Fault[] = [];
  const blank = (at: number): boolean => options.tokenizer?.decode([row.ids[at] ?? -1]).trim() === '';
  for (let at = row.real.from; at < row.real.to; at++) {
    if (!row.trained[at] || row.trained[at + 1]) continue;
    let last = at;
    while (last > row.real.from && row.trained[last - 1] && blank(last) && !stops.has(row.ids[last] ?? -1))
      last--;
    if (stops.has(row.ids[last] ?? -1)) continue;
    const next = at + 1;
    if (next < row.real.to && stops.has(row.ids[next] ?? -1))
      faults.push(
        fault('stop-untrained', `${say(next)} ends what is trained, and is not trained itself.`, [next]),
      );
    else if (next === row.real.to)
      faults.push(
        isUnknown(row, options, last)
          ? unknownStop(last, say)
          : fault('truncated', `The row ends with ${say(at)}, which is trained and no stop token.`, [at]),
      );
  }
  return faults;
};

const notes: Rule = (row, _, say) => [
  ...(row.straddles[0] === undefined
    ? []
    : [fault('straddles', `${say(row.straddles[0])} is part prompt, part answer.`, row.straddles)]),
  ...(row.lost > 0 ? [fault('cut', `${row.lost} tokens beyond the length limit are lost.`)] : []),
];

const RULES: readonly Rule[] = [
  nothingTrained,
  answersAreTrained,
  answersEnd,
  runsEnd,
  oneBos,
  promptIsNot,
  notEverything,
  asDeclared,
  asFlagged,
  labelsAreTokens,
  paddingIsNot,
  placeholdersAreNot,
  ofTheVocabulary,
  positionsGoOn,
  templateIsNot,
  notes,
];
