// Examples of thousands of tokens, in a batch, in pairs, packed, and below a limit that has room for them: a width of the
// collator's own shows on no short one.
import {
  discard,
  firstFinding,
  type Ids,
  IGNORE_INDEX,
  type LimitedExamples,
  type LimitedPrompts,
  type PairBatch,
  type Property,
} from '../../src/index.ts';
import { attended, cutFinding, HALVES, MOST_CASES, mayBeLong, okOf, pairName } from '../text/long.ts';
import { collateBase, type Examples } from './collate.ts';
import { isWorthwhile, truncation } from './cut-rows.ts';
import { packing } from './packed-rows.ts';
import { argsOf, base as paired } from './preference.ts';
import { cutPromptsBase } from './truncate-prompts.ts';

export const stretched = (row: Ids, more: number): Ids =>
  Array.from({ length: row.length + more }, (_, at) => row[at % row.length] ?? 0);

export const longRows: readonly Property<Examples>[] = [
  {
    ...collateBase,
    id: 'collate/long-rows-are-whole',
    title:
      'An example of thousands of tokens is a row of the batch from end to end, or refused, unless a cut is declared',
    why: 'If the collator cuts at a width of its own, each long example loses its answer, and the row is trained all the same.',
    catches: ['TRN-04', 'TRN-06'],
    needs: [mayBeLong],
    mostCases: MOST_CASES,
    check: (subject, drawn) =>
      cutFinding(
        subject,
        'An example',
        async (more) => {
          const attempt = await subject.attempt('collate', {
            input_ids: drawn.rows.map(({ ids }) => stretched(ids, more)),
            labels: drawn.rows.map(({ labels: row }) => stretched(row, more)),
            pad_token_id: drawn.pad,
          });
          return 'refused' in attempt ? undefined : attended(attempt.ok.input_ids, attempt.ok.attention_mask);
        },
        { unit: 'tokens' },
      ),
  },
];

export const longPacked: readonly Property<LimitedExamples>[] = [
  {
    ...packing,
    id: 'pack/long-examples-are-whole',
    title:
      'An example of thousands of tokens is a packed row from end to end where the limit has room for it, or refused, unless a cut is declared',
    why: 'A packer that cuts at a length of its own, below the limit that it is given, takes the answer off each long example.',
    catches: ['TRN-04', 'PCK-04'],
    needs: [mayBeLong],
    coverage: {},
    mostCases: MOST_CASES,
    check(subject, { examples, pad }) {
      // What is left of a row without its padding is the example.
      const at = (examples[0]?.ids ?? []).flatMap((id, each) => (id === pad ? [] : [each]));
      if (at.length === 0) return discard('the example is all of the padding id');
      const of = (row: Ids | undefined): Ids => at.map((each) => row?.[each] ?? pad);
      return cutFinding(
        subject,
        'An example',
        async (words, more = 0) => {
          const example = stretched(of(examples[0]?.ids), words);
          // What stands before it is not trained: a trainer may cut what is alone.
          const ids = [...example.slice(0, more), ...example];
          const labels = [
            ...example.slice(0, more).map(() => IGNORE_INDEX),
            ...stretched(of(examples[0]?.labels), words),
          ];
          const attempt = await subject.attempt('pack', {
            input_ids: [ids],
            labels: [labels],
            max_length: ids.length,
            pad_token_id: pad,
          });
          if ('refused' in attempt) return undefined;
          const { input_ids, labels: packed } = attempt.ok;
          return input_ids.map((row, b) => {
            const real = row.flatMap((id, t) => (id === pad ? [] : [t]));
            return {
              ids: real.map((t) => row[t] ?? pad),
              trained: real.map((t) => packed[b]?.[t] !== IGNORE_INDEX),
            };
          });
        },
        { unit: 'tokens', answer: true },
      );
    },
  },
];

const PARTS = ['prompt', 'answer'] as const;

/** Behind ids in front of it that are no stop token, an answer ends where it did. */
function longerAnswers({ prompts, chosen, rejected, pad, stops }: PairBatch, more: number) {
  const id = [...prompts, ...chosen, ...rejected]
    .flat()
    .find((each) => each !== pad && !stops.includes(each));
  if (id === undefined) return discard('the pairs are all of stop tokens');
  const longer = (rows: readonly Ids[]): Ids[] => rows.map((row) => [...new Array(more).fill(id), ...row]);
  return { chosen: longer(chosen), rejected: longer(rejected) };
}

export const longPairRows: readonly Property<PairBatch>[] = [
  {
    ...paired,
    id: 'preference/long-pairs-are-whole',
    title:
      'Both halves of a pair are rows from end to end also where the prompt or the answer has thousands of tokens, or the pair is refused, unless a cut is declared',
    why: 'A cut prompt is half a question, for which other answers are better. An answer without its end is preferred for text that it does not contain.',
    catches: ['TRN-03', 'TRN-04'],
    needs: [mayBeLong],
    mostCases: MOST_CASES,
    check: (subject, drawn) =>
      firstFinding(
        PARTS.map(
          (part) => () =>
            cutFinding(
              subject,
              pairName(drawn, part === 'prompt' ? ' with a prompt' : ' with an answer'),
              async (tokens, more = 0) => {
                const [prompt, answer] = part === 'prompt' ? [tokens, more] : [more, tokens];
                const prompts = drawn.prompts.map((row) => stretched(row, prompt));
                const args = argsOf({ ...drawn, prompts, ...longerAnswers(drawn, answer) });
                const ok = okOf(await subject.attempt('preference', args));
                return (
                  ok &&
                  HALVES.flatMap((half) => attended(ok[`${half}_input_ids`], ok[`${half}_attention_mask`]))
                );
              },
              {
                unit: 'tokens',
                base: HALVES.flatMap((half) => drawn[part === 'prompt' ? 'prompts' : half].map(lengthOf)),
                ...(part === 'answer' ? { answer: true } : {}),
              },
            ),
        ),
      ),
  },
];

const lengthOf = ({ length }: Ids): number => length;

/** A token more than there are: a filter may ask for one below the limit. */
const roomFor = (ids: Ids): number => ids.length + 1;

const LIMIT_WHY =
  'A function with a limit of its own, below the one that it is given, does not run as configured: raising the setting costs memory and changes nothing.';

export const longLimited: readonly Property<LimitedExamples>[] = [
  {
    ...truncation,
    id: 'truncate/long-examples-that-fit-are-whole',
    title:
      'An example of thousands of tokens is left alone where the limit has room for it, or refused, unless a cut is declared',
    why: LIMIT_WHY,
    catches: ['TRN-04', 'TRN-06'],
    needs: [mayBeLong],
    coverage: {},
    mostCases: MOST_CASES,
    check(subject, { examples }) {
      const example = examples.find(isWorthwhile) ?? discard('a filter may leave all examples out');
      return cutFinding(
        subject,
        'An example',
        async (more) => {
          const ids = stretched(example.ids, more);
          const ok = okOf(
            await subject.attempt('truncate', {
              input_ids: [ids],
              labels: [stretched(example.labels, more)],
              max_length: roomFor(ids),
            }),
          );
          return ok && [{ ids: ok.input_ids[0] ?? [] }];
        },
        { unit: 'tokens' },
      );
    },
  },
];

export const longPrompts: readonly Property<LimitedPrompts>[] = [
  {
    ...cutPromptsBase,
    id: 'truncate/long-prompts-that-fit-are-whole',
    title:
      'A prompt of thousands of tokens is left alone where the limit has room for it, or refused, unless a cut is declared',
    why: LIMIT_WHY,
    catches: ['TRN-03', 'TRN-06'],
    needs: [mayBeLong],
    coverage: {},
    mostCases: MOST_CASES,
    check: (subject, { prompts, pad }) =>
      cutFinding(
        subject,
        'A prompt',
        async (more) => {
          const ids = stretched(prompts[0] ?? [], more);
          const ok = okOf(
            await subject.attempt('truncate_prompts', {
              prompt_ids: [ids],
              max_prompt_length: roomFor(ids),
              pad_token_id: pad,
            }),
          );
          return ok && [attended(ok.input_ids, ok.attention_mask)[0] ?? { ids: [] }];
        },
        { unit: 'tokens' },
      ),
  },
];
