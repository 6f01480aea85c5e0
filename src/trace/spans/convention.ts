// Which tokens of an example should be trained, under every convention that is legal and not ruled out by what the
// user declares: what two correct trainers would do otherwise is left open.
//
// TRL 1.13 as an example of them: `messages` with assistant_only_loss trains what the template marks with
// {% generation %}, some of which reach through the line end behind the stop token (tokenizers/turn-tail.ts); `prompt` and
// `completion` train all ids behind as many as the prompt has by itself, that line end included.
import { behindTurn } from '../../tokenizers/turn-tail.ts';
import type { TokenRow, TrainOn } from '../../view/row.ts';
import type { Writer } from '../../view/writer.ts';
import type { Ids } from '../../vocabulary.ts';
import { thoughtAt, thoughtBefore } from './marks.ts';
import type { Expected, Stretch } from './walk.ts';

export interface ChatFacts {
  readonly writer: Writer;
  /** The prompt by itself, through its generation prompt; undefined where the data do not part it off. */
  readonly promptIds: Ids | undefined;
  readonly preference: boolean;
  readonly trainOn: TrainOn | undefined;
}

/** Of a conversation whose row was made with every answer trained. `end`: behind it stands only what may be left out. */
export function chatExpectation(row: TokenRow, facts: ChatFacts): Stretch & { readonly end: number } {
  const { promptIds, trainOn } = facts;
  const { tokenizer } = facts.writer;
  const { ids } = row;
  const count = promptIds?.length ?? 0;
  const answers = row.answers.length > 0 ? row.answers : trainedRuns(row);
  const eos = tokenizer.eosTokenId === undefined ? [] : [tokenizer.eosTokenId];
  // Nobody's words: what a completion-only trainer trains and an assistant-only one does not.
  const between = (at: number): Expected => {
    if (promptIds === undefined || at < count) return row.trained[at] ? undefined : false;
    return trainOn === 'assistant' || trainOn === 'last' ? false : undefined;
  };
  const expected: Expected[] = ids.map((_, at) => between(at));
  let end = ids.length;
  for (const [index, { from, to, stop }] of answers.entries()) {
    const last = index === answers.length - 1;
    const target = answerTarget(last, to <= count, facts);
    // What is counted as prompt and is answer: TRL leaves it out, others do not.
    for (let at = from; at < to; at++)
      expected[at] = at < count && to > count ? undefined : row.trained[at] ? target : undefined;
    if (target !== false) {
      expected.fill(undefined, from, from + thoughtAt(facts.writer, ids, from, to));
      // A thought that the template itself wrote in front of the answer: of the prompt, or of the answer.
      expected.fill(undefined, from - thoughtBefore(facts.writer, ids, from), from);
    }
    const free = stop === undefined ? to : behindTurn(tokenizer, ids, to, eos);
    if (target !== false) expected.fill(undefined, to, free);
    if (last && free === ids.length) end = to;
  }
  for (const at of row.straddles) expected[at] = undefined;
  return {
    roles: row.roles,
    expected: trainOn === 'all' ? expected.map((each) => each || undefined) : expected,
    completions: answers
      .filter(({ to }) => to > count)
      .map(({ from, to, stop }) => ({
        from: Math.max(from, count),
        to,
        ...(stop === undefined ? {} : { stop }),
      })),
    end,
  };
}

/** Of a prompt and its completion as text: the row has been made with everything trained. */
export function textExpectation(row: TokenRow, promptIds: Ids, trainOn: TrainOn | undefined): Stretch {
  const { ids } = row;
  const count = promptIds.length;
  const other = promptIds.findIndex((id, at) => id !== ids[at]);
  const begins = row.roles.findIndex((role) => role === 'completion' || role === 'stop');
  const from = begins < 0 ? ids.length : begins;
  const expected = ids.map((_, at): Expected => {
    if (at >= count && at >= from) return true;
    // Part prompt, part answer.
    const straddles = other >= 0 && at >= other && at === from - 1;
    return at < count && at < from && !straddles ? false : undefined;
  });
  const stop = row.roles.at(-1) === 'stop' ? ids.length - 1 : undefined;
  return {
    roles: row.roles,
    expected: trainOn === 'all' ? expected.map((each) => each || undefined) : expected,
    completions: from < ids.length ? [{ from, to: ids.length, ...(stop === undefined ? {} : { stop }) }] : [],
  };
}

// --- helpers ---

function answerTarget(
  last: boolean,
  inPrompt: boolean,
  { preference, trainOn, promptIds }: ChatFacts,
): Expected {
  if (trainOn === 'all') return true;
  if (inPrompt) {
    // Assistant-only training without completion-only training trains the answers of the prompt.
    return preference || trainOn === 'completion' || trainOn === 'last' ? false : undefined;
  }
  if (last || trainOn === 'assistant') return true;
  if (trainOn === 'last') return false;
  return promptIds !== undefined || trainOn !== 'completion';
}

/** Answers that only the template's own marks tell. */
function trainedRuns({
  trained,
}: TokenRow): readonly { readonly from: number; readonly to: number; readonly stop?: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (const [at, each] of trained.entries()) {
    const open = runs.at(-1);
    if (each && open !== undefined && open.to === at) open.to = at + 1;
    else if (each) runs.push({ from: at, to: at + 1 });
  }
  return runs;
}
