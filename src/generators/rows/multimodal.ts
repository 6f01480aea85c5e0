// Conversations with images, for op `multimodal_batch`: each image has a size and one colour of its own, so that its pixels
// are known again whatever a processor makes of them.
import fc from 'fast-check';
import type { ImagePart, MultimodalMessage, PaddingSide, TextPart } from '../../vocabulary.ts';

export interface MultimodalBatch {
  readonly conversations: readonly (readonly MultimodalMessage[])[];
  /** Null: the trainer's own. */
  readonly side: PaddingSide | null;
}

type Part = MultimodalMessage['content'][number];

const MAX_ROWS = 3;
const MAX_IMAGES = 2;
const MAX_TURNS = 2;
const SIDES = [28, 40, 56, 84];
/** As many as the images of the largest batch, and far apart: a mean in bfloat16 tells them from each other. */
const COLORS = [0, 120, 250].flatMap((red) =>
  [0, 120, 250].flatMap((green) => [0, 250].map((blue) => [red, green, blue])),
);
const QUESTIONS = ['What is this?', 'Look at it', 'Which color has it', 'Name one thing', 'And now'];
const ANSWERS = ['It is a square.', 'Red', 'A large one, and nothing else.', 'No'];

/** An arbitrary batch; an image may stand before, between and after the words of a question. */
export function multimodalBatch(options: {
  readonly sides: readonly PaddingSide[];
  readonly maxTurns?: number | undefined;
  readonly minRows?: number;
}): fc.Arbitrary<MultimodalBatch> {
  const { sides, maxTurns = MAX_TURNS, minRows = 1 } = options;
  const size = fc.record({ width: fc.constantFrom(...SIDES), height: fc.constantFrom(...SIDES) });
  const turn = fc.record({
    images: fc.array(size, { maxLength: MAX_IMAGES, size: 'max' }),
    texts: fc.array(fc.constantFrom(...QUESTIONS), { minLength: 1, maxLength: MAX_IMAGES }),
    textFirst: fc.boolean(),
    answer: fc.constantFrom(...ANSWERS),
  });
  return fc
    .record({
      colors: fc.shuffledSubarray(COLORS, { minLength: COLORS.length }),
      rows: fc.array(fc.array(turn, { minLength: 1, maxLength: maxTurns, size: 'max' }), {
        minLength: minRows,
        maxLength: MAX_ROWS,
        size: 'max',
      }),
      side: sides.length === 0 ? fc.constant(null) : fc.constantFrom(...sides),
    })
    .map(({ colors, rows, side }) => {
      let next = 0;
      const conversations = rows.map((turns) =>
        turns.flatMap(({ images, texts, textFirst, answer }): MultimodalMessage[] => {
          const parts = images.map((each): ImagePart => {
            next += 1;
            return { type: 'image', ...each, color: colors[next % colors.length] ?? [] };
          });
          const words = texts.map((text): TextPart => ({ type: 'text', text }));
          const [one = [], other = []]: readonly (readonly Part[])[] = textFirst
            ? [words, parts]
            : [parts, words];
          return [
            { role: 'user', content: alternating(one, other) },
            { role: 'assistant', content: [{ type: 'text', text: answer }] },
          ];
        }),
      );
      return { conversations, side };
    });
}

function alternating<T>(one: readonly T[], other: readonly T[]): T[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, at) => [
    ...one.slice(at, at + 1),
    ...other.slice(at, at + 1),
  ]).flat();
}

/** The images of a conversation, as they are read. */
export const imagesIn = (messages: readonly MultimodalMessage[]): ImagePart[] =>
  messages.flatMap(({ content }) => content.filter((part) => part.type === 'image'));

/** What a batch exercises. */
export function multimodalLabels({ conversations, side }: MultimodalBatch): string[] {
  const counts = conversations.map((messages) => imagesIn(messages).length);
  const labels = {
    images: counts.some((count) => count > 0),
    'several images in a row': counts.some((count) => count > 1),
    'images in several rows': counts.filter((count) => count > 0).length > 1,
    'a row without images beside one with': counts.includes(0) && counts.some((count) => count > 0),
    'padded on the left': side === 'left',
  };
  return Object.entries(labels).flatMap(([name, holds]) => (holds ? [name] : []));
}
