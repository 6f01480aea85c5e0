// Golden cases of one optimiser step: what scores before and after it.
import { type GoldenCase, goldenCase } from '../../case.ts';
import { BATCHES } from '../inputs/model-rows.ts';

export const updateCases: readonly GoldenCase[] = BATCHES.map(([name, of]) =>
  goldenCase(`update/${name}`, 'update', of),
);
