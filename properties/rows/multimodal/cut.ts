// Rows with images that are cut at a limit.
import fc from 'fast-check';
import { type MultimodalBatch, many, multimodalLabels, type Property } from '../../../src/index.ts';
import { argsOf, ask, base, closeTo, expectedMeans, given, placeholdersIn, sum } from './cases.ts';

interface Limited {
  readonly batch: MultimodalBatch;
  /** Of the longest row, in hundredths. */
  readonly share: number;
}
const HUNDRED = 100;

const truncationKeepsImagesWhole: Property<Limited> = {
  ...base,
  coverage: { images: 0.5 },
  mayRefuse: ['images', ...base.mayRefuse],
  id: 'multimodal/truncation-keeps-images-whole',
  title: 'A row that is cut keeps whole images of its own, each with its placeholders and its pixels',
  why: 'A row that is cut inside an image has fewer placeholders than features: the model raises an error, or fills the next row with what is left.',
  catches: ['IMG-03'],
  needs: [
    ({ hello }) =>
      hello.ops.multimodal_batch?.max_length === true
        ? undefined
        : 'op `multimodal_batch` does not offer max_length',
  ],
  given: (world) => fc.record({ batch: given(world), share: fc.integer({ min: 20, max: HUNDRED - 1 }) }),
  labels: ({ batch }) => multimodalLabels(batch),
  async check(subject, { batch, share }) {
    const whole = await ask(subject, batch);
    const longest = Math.max(...whole.attention_mask.map(sum));
    const limit = Math.max(1, Math.ceil((longest * share) / HUNDRED));
    const answer = await subject.ask('multimodal_batch', { ...argsOf(batch), max_length: limit });
    const alone = await expectedMeans(subject, batch.conversations);
    let next = 0;
    for (const row of batch.conversations.keys()) {
      const length = sum(answer.attention_mask[row] ?? []);
      if (length > limit)
        return {
          kind: 'too long',
          sentence: `Row ${row} has ${many(length, 'token')}, the limit is ${limit}.`,
        };
      let left = placeholdersIn(answer, row);
      const own = [...(alone[row] ?? [])];
      for (; left > 0 && next < answer.image_tokens.length; next += 1) {
        left -= answer.image_tokens[next] ?? 0;
        const means = answer.image_means[next] ?? [];
        while (own.length > 0 && !closeTo(own[0] ?? [], means)) own.shift();
        if (own.shift() === undefined)
          return {
            kind: 'pixels',
            sentence: `Cut at ${limit} tokens, row ${row} has placeholders for pixels that are of none of its images.`,
          };
      }
      if (left !== 0)
        return {
          kind: 'cut',
          sentence: `Cut at ${limit} tokens, row ${row} has ${many(placeholdersIn(answer, row), 'placeholder')}: ${left < 0 ? `${-left} fewer` : `${left} more`} than its images have features. An image is cut.`,
        };
    }
    if (next < answer.image_tokens.length)
      return {
        kind: 'pixels left',
        sentence: `Cut at ${limit} tokens, the rows have placeholders for ${many(next, 'image')}, and the answer has pixels of ${answer.image_tokens.length}.`,
      };
    return undefined;
  },
};

export const multimodalTruncation: readonly Property<Limited>[] = [truncationKeepsImagesWhole];
