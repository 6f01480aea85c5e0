// What the properties of batches with images share: how they are asked, and what an image is alone.
import type fc from 'fast-check';
import {
  type Args,
  discard,
  type Ids,
  type ImagePart,
  imagesIn,
  type MultimodalBatch,
  type MultimodalMessage,
  multimodalBatch,
  multimodalLabels,
  type Ok,
  type Subject,
  type World,
} from '../../../src/index.ts';

export type Answer = Ok<'multimodal_batch'>;

export const given = (world: World, minRows = 1): fc.Arbitrary<MultimodalBatch> => {
  const { padding_side: sides = [], turns } = world.hello.ops.multimodal_batch ?? {};
  return multimodalBatch({ sides, maxTurns: turns, minRows });
};

export const base = {
  stage: 'multimodal_batch',
  level: 'must',
  ops: ['multimodal_batch'],
  labels: multimodalLabels,
  coverage: { images: 0.5, 'several images in a row': 0.2, 'a row without images beside one with': 0.1 },
  mayRefuse: ['several images in a row', 'a row without images beside one with'],
} as const;

export const argsOf = ({ conversations, side }: MultimodalBatch): Args<'multimodal_batch'> => ({
  conversations,
  ...(side === null ? {} : { padding_side: side }),
});

export const ask = (subject: Subject, drawn: MultimodalBatch): Promise<Answer> =>
  subject.ask('multimodal_batch', argsOf(drawn));

/** What is attended to, of one row of the answer. */
export const bare = (answer: Answer, name: 'input_ids' | 'labels', row: number): Ids =>
  (answer[name][row] ?? []).filter((_, column) => answer.attention_mask[row]?.[column] === 1);

export const placeholdersIn = ({ input_ids, image_token_id: image }: Answer, row: number): number =>
  (input_ids[row] ?? []).filter((id) => id === image).length;

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Where an image stands: `image 1 of row 0`. */
export const placesOf = ({ conversations }: MultimodalBatch): string[] =>
  conversations.flatMap((messages, row) => imagesIn(messages).map((_, at) => `image ${at} of row ${row}`));

/** Mean pixel values are of the same image: a processor that resizes or rounds moves them by far less than a color. */
export const CLOSE = 0.02;
export const closeTo = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length &&
  one.every((value, at) => Math.abs(value - (other[at] ?? 0)) <= CLOSE * Math.max(1, Math.abs(value)));

/** The mean pixel values of an image in a batch of its own. */
export async function meansAlone(subject: Subject, image: ImagePart): Promise<readonly number[]> {
  const conversation: MultimodalMessage[] = [
    { role: 'user', content: [image, { type: 'text', text: 'What is this?' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'Red' }] },
  ];
  const answer = await ask(subject, { conversations: [conversation], side: null });
  return answer.image_means[0] ?? discard('an image alone has no pixels', 'trainer');
}

/** Each image of the batch alone, in the order in which it is read. */
export async function expectedMeans(subject: Subject, conversations: MultimodalBatch['conversations']) {
  const means = await Promise.all(
    conversations.map((messages) =>
      Promise.all(imagesIn(messages).map((image) => meansAlone(subject, image))),
    ),
  );
  return means;
}
