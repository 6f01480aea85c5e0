// A row of the installed trainer that the rules make otherwise, as `view` shows and judges it.
import { IGNORE_INDEX } from '../../vocabulary.ts';
import type { Making } from '../making.ts';
import type { Shape } from '../shape/shapes.ts';
import type { OwnRow } from './own.ts';

/** A row of the trainer's own; the conversation that the rules read in it says who speaks, where it has these ids. */
export function ownShape({ ids, labels }: OwnRow, rules: Shape | undefined): Shape {
  const chat = rules?.kind === 'chat' ? rules : rules?.kind === 'ids' ? rules.chat : undefined;
  return {
    kind: 'ids',
    form: rules?.form ?? 'input_ids',
    ids,
    labels,
    masks: [],
    assumed: AS_MADE,
    ...(chat === undefined ? {} : { chat }),
  };
}

export const AS_MADE = 'rows that the rules make otherwise: as the trainer itself makes them';

/** Cut already, and trained as its labels say: what the rules expect of it was wrong. */
export function asMade({ labels }: OwnRow, { maxLength, declaredBy, trainOn, ...others }: Making): Making {
  const all = trainOn === 'all' && labels.every((label, at) => at === 0 || label !== IGNORE_INDEX);
  return all ? { ...others, trainOn: 'all' } : others;
}
