// Examples of thousands of tokens in a batch: a width of the collator's own shows on no short one.
import type { Ids, Property } from '../../src/index.ts';
import { attended, cutFinding, MOST_CASES, mayBeLong } from '../text/long.ts';
import { collateBase, type Examples } from './collate.ts';

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
