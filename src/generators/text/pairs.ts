// Preference pairs as text: a conversation, and two answers of which one may be empty, begin the other, or begin with a thought.
import fc from 'fast-check';
import type { Message } from '../../vocabulary.ts';
import { repeated, withRepeats } from '../rollouts/batch.ts';
import { conversation, type Taken } from './conversation.ts';
import { plainContent, prose, reasoned } from './text.ts';

export interface ChatPairs {
  readonly prompts: readonly (readonly Message[])[];
  readonly chosen: readonly string[];
  readonly rejected: readonly string[];
}

const MAX_ROWS = 3;

/** Arbitrary pairs of answers to conversations that end with a question. */
export function chatPairs(options: Taken & { readonly minRows?: number } = {}): fc.Arbitrary<ChatPairs> {
  const chosen = fc.oneof(
    { arbitrary: plainContent(), weight: 3 },
    { arbitrary: reasoned(), weight: 1 },
    { arbitrary: prose(), weight: 1 },
  );
  const rejected = fc.oneof(
    { arbitrary: plainContent().map((text) => ({ text, behind: false })), weight: 3 },
    { arbitrary: fc.constant({ text: '', behind: false }), weight: 1 },
    { arbitrary: prose().map((text) => ({ text: ` ${text}`, behind: true })), weight: 1 },
  );
  const row = fc.record({
    again: repeated(),
    prompt: conversation({
      endsWith: 'user',
      rarelySystem: options.rarelySystem === true,
      tools: options.tools === true,
      turns: { min: 1, max: options.once ? 1 : 2 },
    }),
    chosen,
    rejected,
  });
  return fc.array(row, { minLength: options.minRows ?? 1, maxLength: MAX_ROWS, size: 'max' }).map((rows) => ({
    prompts: withRepeats(rows, ({ prompt }) => prompt),
    chosen: rows.map((made) => made.chosen),
    rejected: rows.map((made) => (made.rejected.behind ? made.chosen : '') + made.rejected.text),
  }));
}

/** What pairs of answers exercise. */
export function chatPairLabels({ prompts, chosen, rejected }: ChatPairs): string[] {
  const some = (is: (better: string, worse: string) => boolean): boolean =>
    chosen.some((text, at) => is(text, rejected[at] ?? ''));
  return [
    prompts.length > 1 ? 'several rows' : 'one row',
    ...(some((better, worse) => better.length !== worse.length) ? ['halves of unequal length'] : []),
    ...(some((better, worse) => better !== '' && worse !== better && worse.startsWith(better))
      ? ['one answer begins the other']
      : []),
    ...(some((better, worse) => better === '' || worse === '') ? ['empty answer'] : []),
    ...(some((better) => better.includes('</think>')) ? ['thought'] : []),
  ];
}
