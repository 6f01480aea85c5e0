// Examples of thousands of tokens, in a batch and packed: a width of the collator's own shows on no short one.
import { discard, type Ids, type LimitedExamples, type Property } from '../../src/index.ts';
import { attended, cutFinding, MOST_CASES, mayBeLong } from '../text/long.ts';
import { collateBase, type Examples } from './collate.ts';
import { packing } from './packed-rows.ts';

const stretched = (row: Ids, more: number): Ids =>
  Array.from({ length: row.length + more }, (_, at) => row[at % row.length] ?? 0);

export const longRows: readonly Property<Examples>[] = [
  {
    ...collateBase,
    id: 'collate/long-rows-are-whole',
    title:
      'An example of thousands of tokens is a row of the batch from end to end, or refused, unless a cut is declared',
    why: 'Behind a width of the collator’s own the answer of each long example is lost, and the row is trained all the same.',
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
        'tokens',
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
        async (more) => {
          const ids = stretched(of(examples[0]?.ids), more);
          const attempt = await subject.attempt('pack', {
            input_ids: [ids],
            labels: [stretched(of(examples[0]?.labels), more)],
            max_length: ids.length,
            pad_token_id: pad,
          });
          if ('refused' in attempt) return undefined;
          return attempt.ok.input_ids.map((row) => ({ ids: row.filter((id) => id !== pad) }));
        },
        'tokens',
      );
    },
  },
];
