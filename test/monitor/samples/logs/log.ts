// Samples for logs that rules over samples must blame, and for those that they must not.
import type { Sample } from '../../../../src/monitor/series.ts';
import { ANSWERS, QUESTIONS } from '../healthy.ts';
import { type Family, family, inSteps, skipSpecials, type WatchOptions } from '../watching.ts';

export interface Log extends WatchOptions {
  readonly name: string;
  readonly samples: readonly Sample[];
  /** Of the violation; absent: the log is fine. */
  readonly kind?: string;
  /** The sentence says it. */
  readonly says?: RegExp;
}

export const sample = (more: Partial<Sample>): Sample => ({ run: 'run', where: 'rollouts.jsonl', ...more });
export const texts = (completions: readonly string[], prompt = 'Why is the sky blue?'): Sample[] =>
  inSteps(
    completions.map((completion) => sample({ prompt, completion })),
    8,
  );
export const times = <Value>(count: number, make: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => make(at));
export const answer = (at: number): string => ANSWERS[at % ANSWERS.length] ?? '';
export const question = (at: number): string => QUESTIONS[at % QUESTIONS.length] ?? '';
export const fine = (at: number): Sample =>
  sample({
    prompt: question(at),
    completion: answer(at),
    reward: (at * 7) % 3,
    advantage: ((at * 7) % 3) - 1,
  });

/** What `out[i, src_len:]` leaves of a row that was padded on the left by `pads`: the end of the prompt, and the answer. */
export function cutTooEarly({ tokenizer, tokens, ask }: Family, pads: number, at: number): Sample {
  const promptIds = tokenizer.encode(ask(question(at)));
  const completionIds = [
    ...promptIds.slice(promptIds.length - pads),
    ...tokenizer.encode(answer(at)),
    tokens.stopIds[0] ?? 0,
  ];
  return sample({ promptIds, completionIds });
}

export const padded = (each: Family, skip: boolean): Sample[] =>
  inSteps(
    times(16, (at) => {
      const cut = cutTooEarly(each, 24 - (at % 4) * 8, at);
      if (!skip) return cut;
      const text = (ids: readonly number[] = []): string =>
        skipSpecials(each.tokens.decode(ids), each.tokens);
      return sample({ prompt: text(cut.promptIds), completion: text(cut.completionIds) });
    }),
    8,
  );

export const llama = family('llama3');
export const qwen = family('qwen');
export const eot = llama.tokenizer.tokenId('<|eot_id|>') ?? -1;
export const ids = (text: string): number[] => llama.tokenizer.encode(text);
export const PLAIN =
  'The farmer has fourteen sheep in the northern field and nine more behind the old stone barn, and sells a third of them; how many are left to him in the end of that year';

/** By the id of the rule. */
export type Logs = Readonly<Record<string, readonly Log[]>>;
