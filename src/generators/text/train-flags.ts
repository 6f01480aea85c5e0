// Conversations of several turns whose messages say themselves whether they are trained.
import fc from 'fast-check';
import type { Message, TrainFlagName } from '../../vocabulary.ts';
import { rarely } from '../rarely.ts';
import { conversation, conversationLabels, type Taken } from './conversation.ts';
import type { Dialogue } from './dialogue.ts';
import type { SftBatch } from './sft-batch.ts';
import { plainContent } from './text.ts';

/** What a message says; `unset`: it has no flag. */
export type Says = 'on' | 'off' | 'null' | 'unset';

export interface FlaggedDialogue extends Dialogue {
  /** One for each message. */
  readonly says: readonly Says[];
}

export interface FlaggedBatch extends SftBatch {
  readonly says: readonly (readonly Says[])[];
}

/** Two or three answers, of which at least one is not turned off: who has nothing to train may refuse it. */
export function flaggedDialogue(taken: Pick<Taken, 'rarelySystem'> = {}): fc.Arbitrary<FlaggedDialogue> {
  const messages = conversation({
    endsWith: 'assistant',
    system: true,
    rarelySystem: taken.rarelySystem === true,
    turns: { min: 2, max: 3 },
    content: plainContent(),
  });
  const answers = saying({ unset: 3, off: 4, on: 3, null: 1 });
  const others = saying({ unset: 3, off: 2, on: 2, null: 1 });
  const some = (each: fc.Arbitrary<Says>): fc.Arbitrary<Says[]> =>
    fc.array(each, { minLength: FLAGS, maxLength: FLAGS, size: 'max' });
  return fc
    .tuple(messages, some(answers), some(others), rarely(OTHERS_ONE_IN))
    .map(([made, ofAnswers, ofOthers, flagged]) => {
      const says = made.map(({ role }, at): Says => {
        const turn = Math.floor(at / 2) % FLAGS;
        if (role === 'assistant') return ofAnswers[turn] ?? 'unset';
        return flagged ? (ofOthers[turn] ?? 'unset') : 'unset';
      });
      const all = made.every(({ role }, at) => role !== 'assistant' || says[at] === 'off');
      return { messages: made, template: null, says: all ? [...says.slice(0, -1), 'unset' as const] : says };
    });
}

const MAX_ROWS = 2;

/** The same as a batch, padded as the trainer pads by itself. */
export function flaggedBatch(taken: Pick<Taken, 'rarelySystem'> = {}): fc.Arbitrary<FlaggedBatch> {
  return fc.array(flaggedDialogue(taken), { minLength: 1, maxLength: MAX_ROWS, size: 'max' }).map((rows) => ({
    conversations: rows.map(({ messages }) => messages),
    says: rows.map(({ says }) => says),
    side: null,
    pad: null,
  }));
}

/** The messages with their flags, under the name that the trainer reads: `weight` is a number, the others are true or false. */
export function withFlags(
  messages: readonly Message[],
  says: readonly Says[],
  name: TrainFlagName,
): readonly Message[] {
  const value: Readonly<Record<Exclude<Says, 'unset'>, Message[TrainFlagName] | null>> =
    name === 'weight' ? { on: 1, off: 0, null: null } : { on: true, off: false, null: null };
  return messages.map((message, at) => {
    const own = says[at] ?? 'unset';
    return own === 'unset' ? message : { ...message, [name]: value[own] };
  });
}

/** What flags of a conversation exercise. */
export function flagLabels(messages: readonly Message[], says: readonly Says[]): string[] {
  const of = (answer: boolean): Says[] =>
    says.filter((_, at) => (messages[at]?.role === 'assistant') === answer);
  const off = of(true).indexOf('off');
  return [
    ...conversationLabels(messages),
    ...(off >= 0 ? ['an answer turned off'] : []),
    ...(off >= 0 && of(true).some((own, at) => at > off && own !== 'off')
      ? ['an answer after one turned off']
      : []),
    ...(of(true).includes('null') ? ['a flag that is null'] : []),
    ...(of(false).includes('on') ? ['another role turned on'] : []),
  ];
}

// --- helpers ---

/** Drawn for each kind of message; longer conversations have them over again. */
const FLAGS = 4;

/** In one conversation of so many, the other roles have flags as well. */
const OTHERS_ONE_IN = 3;

const saying = (weights: Readonly<Record<Says, number>>): fc.Arbitrary<Says> =>
  fc.oneof(
    ...(Object.entries(weights) as [Says, number][]).map(([says, weight]) => ({
      arbitrary: fc.constant(says),
      weight,
    })),
  );
