// Conversations with images as a batch to train on. No formula is needed: a model replaces all placeholders, row after row, by the
// features of all images, in the order of their pixels. Each image and each row is compared with itself alone.
import {
  discard,
  type Finding,
  IGNORE_INDEX,
  imagesIn,
  type MultimodalBatch,
  many,
  type Property,
  type Role,
  type Subject,
  sameIds,
  show,
  stripOf,
} from '../../../src/index.ts';
import {
  type Answer,
  ask,
  bare,
  base,
  closeTo,
  expectedMeans,
  given,
  placeholdersIn,
  placesOf,
  sum,
} from './cases.ts';

/** The first token that breaks a rule, in its row. */
function tokenFinding(
  subject: Subject,
  answer: Answer,
  kind: string,
  isWrong: (row: number, column: number) => boolean,
  words: (place: string, count: number) => string,
): Finding | undefined {
  for (const [row, ids] of answer.input_ids.entries()) {
    const marks = ids.flatMap((_, column) => (isWrong(row, column) ? [column] : []));
    if (marks.length === 0) continue;
    const roles = ids.map(
      (_, column): Role => (answer.attention_mask[row]?.[column] === 1 ? 'prompt' : 'padding'),
    );
    const [attention_mask, labels] = [answer.attention_mask[row] ?? [], answer.labels[row] ?? []];
    return {
      kind,
      sentence: words(`column ${marks[0]} of row ${row}`, marks.length),
      strips: [stripOf(subject, { row, ids, roles, tracks: { attention_mask, labels }, marks })],
    };
  }
  return undefined;
}

const placeholdersAreTheImages: Property<MultimodalBatch> = {
  ...base,
  given: (world) => given(world),
  id: 'multimodal/placeholders-are-the-images',
  title:
    'A batch has the pixels of all its images, and each row as many placeholders as its images have features',
  why: 'Features fill placeholders one after the other: with one too few or too many, each later image is taken for another, or the model raises an error.',
  catches: ['IMG-02', 'IMG-04', 'IMG-05', 'IMG-07'],
  async check(subject, drawn) {
    const answer = await ask(subject, drawn);
    const counts = drawn.conversations.map((messages) => imagesIn(messages).length);
    if (answer.image_tokens.length !== sum(counts))
      return {
        kind: 'images',
        sentence: `The batch has ${many(sum(counts), 'image')}, and the answer has pixels of ${answer.image_tokens.length}.`,
      };
    let next = 0;
    for (const [row, count] of counts.entries()) {
      const tokens = answer.image_tokens.slice(next, next + count);
      next += count;
      const placeholders = placeholdersIn(answer, row);
      if (placeholders !== sum(tokens))
        return {
          kind: 'placeholders',
          sentence: `Row ${row} has ${many(placeholders, 'placeholder')} (id ${answer.image_token_id}), and its ${many(count, 'image')} ${count === 1 ? 'has' : 'have'} ${many(sum(tokens), 'feature')}${count > 1 ? ` (${tokens.join(' + ')})` : ''}.`,
        };
    }
    return undefined;
  },
};

const pixelsBelongToTheirRow: Property<MultimodalBatch> = {
  ...base,
  given: (world) => given(world),
  id: 'multimodal/pixels-belong-to-their-row',
  title: 'The pixels of a batch are those of its images, row by row, in the order of the text',
  why: 'An answer is trained on the image of another question: no shape is wrong, and the loss still falls.',
  catches: ['IMG-04', 'IMG-05'],
  async check(subject, drawn) {
    const answer = await ask(subject, drawn);
    const alone = (await expectedMeans(subject, drawn.conversations)).flat();
    const places = placesOf(drawn);
    for (const [at, expected] of alone.entries()) {
      const observed = answer.image_means[at] ?? [];
      if (closeTo(observed, expected)) continue;
      const other = alone.findIndex((means) => closeTo(means, observed));
      const whose = other < 0 ? 'of no image of the batch' : `those of ${places[other]}`;
      return {
        kind: other < 0 ? 'pixels' : 'order',
        sentence: `The pixels of ${places[at]} are ${whose}: their means are ${observed.map(show).join(', ')}; alone, the image has ${expected.map(show).join(', ')}.`,
      };
    }
    return undefined;
  },
};

const placeholdersAreNotTrained: Property<MultimodalBatch> = {
  ...base,
  given: (world) => given(world),
  id: 'multimodal/placeholders-are-not-trained',
  title: 'The placeholders of images are labelled -100',
  why: 'Placeholders are most tokens of a row. Training them teaches the model to write them, and makes the loss small by being easy.',
  catches: ['IMG-01'],
  async check(subject, drawn) {
    const answer = await ask(subject, drawn);
    return tokenFinding(
      subject,
      answer,
      'trained',
      (row, column) =>
        answer.input_ids[row]?.[column] === answer.image_token_id &&
        answer.labels[row]?.[column] !== IGNORE_INDEX,
      (place, count) =>
        `The placeholder in ${place} is trained${count > 1 ? `, with ${count - 1} more` : ''}.`,
    );
  },
};

const imagesAreAttendedTo: Property<MultimodalBatch> = {
  ...base,
  given: (world) => given(world),
  id: 'multimodal/images-are-attended-to',
  title: 'attention_mask is 1 on placeholders, and what it hides is not trained',
  why: 'The model answers without the image that it is trained to describe, or learns to write padding.',
  catches: ['IMG-08', 'MSK-06'],
  async check(subject, drawn) {
    const answer = await ask(subject, drawn);
    const hidden = (row: number, column: number): boolean => answer.attention_mask[row]?.[column] !== 1;
    return (
      tokenFinding(
        subject,
        answer,
        'hidden',
        (row, column) => hidden(row, column) && answer.input_ids[row]?.[column] === answer.image_token_id,
        (place) => `The placeholder in ${place} is hidden by attention_mask.`,
      ) ??
      tokenFinding(
        subject,
        answer,
        'padding',
        (row, column) => hidden(row, column) && answer.labels[row]?.[column] !== IGNORE_INDEX,
        (place) => `The token in ${place} is hidden by attention_mask, and it is trained.`,
      )
    );
  },
};

const rowsAreAsAlone: Property<MultimodalBatch> = {
  ...base,
  given: (world) => given(world, 2),
  id: 'multimodal/rows-are-as-alone',
  title: 'The ids and labels of a row, padding left out, are those of its conversation in a batch of its own',
  why: 'A row that changes with the images, the lengths or the order of its batch mates is another example in each epoch.',
  catches: ['IMG-05', 'IMG-07', 'MSK-16', 'PAD-08'],
  async check(subject, drawn) {
    const answer = await ask(subject, drawn);
    for (const [row, messages] of drawn.conversations.entries()) {
      const alone = await ask(subject, { conversations: [messages], side: null });
      for (const name of ['input_ids', 'labels'] as const) {
        const [observed, expected] = [bare(answer, name, row), bare(alone, name, 0)];
        if (!sameIds(observed, expected))
          return {
            kind: name,
            sentence: `The ${name === 'labels' ? 'labels' : 'ids'} of row ${row}, padding left out, are [${observed.join(', ')}] in the batch and [${expected.join(', ')}] alone.`,
          };
      }
    }
    return undefined;
  },
};

const isTrained = (label: number): boolean => label !== IGNORE_INDEX;

const imagesMoveNoLabels: Property<MultimodalBatch> = {
  ...base,
  given: (world) => given(world),
  id: 'multimodal/images-move-no-labels',
  title: 'The same tokens are trained with the images of a conversation and without them',
  why: 'A prompt that is measured before its placeholders are expanded is too short: its end is trained, or the answer loses its beginning.',
  catches: ['IMG-01', 'IMG-06'],
  async check(subject, drawn) {
    const conversations = drawn.conversations.map((messages) =>
      messages.map((message) => ({
        ...message,
        content: message.content.filter(({ type }) => type === 'text'),
      })),
    );
    const [answer, plain] = [await ask(subject, drawn), await ask(subject, { ...drawn, conversations })];
    for (const row of conversations.keys()) {
      const expected = bare(plain, 'labels', row);
      // Markers of an image are trained, too, where the whole text is.
      if (expected.slice(1).every(isTrained)) return discard('every token is trained', 'trainer');
      const [observed, wanted] = [bare(answer, 'labels', row).filter(isTrained), expected.filter(isTrained)];
      if (!sameIds(observed, wanted))
        return {
          kind: observed.length > wanted.length ? 'more' : 'others',
          sentence: `Row ${row} trains the ids [${observed.join(', ')}]; with its images left out it trains [${wanted.join(', ')}].`,
        };
    }
    return undefined;
  },
};

export const multimodalProperties: readonly Property<MultimodalBatch>[] = [
  placeholdersAreTheImages,
  pixelsBelongToTheirRow,
  placeholdersAreNotTrained,
  imagesAreAttendedTo,
  rowsAreAsAlone,
  imagesMoveNoLabels,
];
