// Conversations that supervised fine-tuning makes one batch of: of unequal length, padded on a side and with an id that the
// case says where the trainer lets it.
import fc from 'fast-check';
import type { Ids, Message, PaddingSide } from '../../vocabulary.ts';
import { repeated, repeats, withRepeats } from '../rollouts/batch.ts';
import { conversationLabels, type Taken } from './conversation.ts';
import { dialogue } from './dialogue.ts';

export interface SftBatch {
  readonly conversations: readonly (readonly Message[])[];
  /** Null: the trainer's own. */
  readonly side: PaddingSide | null;
  readonly pad: number | null;
}

export interface SftBatchOptions extends Taken {
  /** Sides and ids that may be asked for; none: the trainer's own alone. */
  readonly sides: readonly PaddingSide[];
  readonly pads: Ids;
  readonly minRows?: number;
}

/** Three rows have a longest, a shortest and one between. */
const MAX_ROWS = 3;

/** An arbitrary batch of dialogues that end with an answer. */
export function sftBatch({ sides, pads, minRows = 1, ...taken }: SftBatchOptions): fc.Arbitrary<SftBatch> {
  const row = fc.record({ again: repeated(), drawn: dialogue({ templates: false, ...taken }) });
  const oneOf = <T>(all: readonly T[]): fc.Arbitrary<T | null> =>
    all.length === 0 ? fc.constant(null) : fc.constantFrom(...all);
  return fc.record({
    conversations: fc
      .array(row, { minLength: minRows, maxLength: MAX_ROWS, size: 'max' })
      .map((rows) => withRepeats(rows, ({ drawn }) => drawn.messages)),
    side: oneOf(sides),
    pad: oneOf(pads),
  });
}

/** What a batch of conversations exercises. `stops`: ids that end a turn, where they are known. */
export function sftBatchLabels({ conversations, side, pad }: SftBatch, stops: Ids): string[] {
  const sizes = new Set(
    conversations.map((messages) => messages.map(({ content }) => content).join('').length),
  );
  return [
    ...new Set(conversations.flatMap(conversationLabels)),
    conversations.length > 1 ? 'several rows' : 'one row',
    ...(sizes.size > 1 ? ['unequal rows'] : []),
    ...(repeats(conversations) ? ['repeated conversation'] : []),
    ...(side === 'left' ? ['padded on the left'] : []),
    ...(pad !== null && stops.includes(pad) ? ['pad is a stop token'] : []),
  ];
}
