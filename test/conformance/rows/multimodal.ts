// Legal ways to make a batch of conversations with images: placeholders before the text or in place, with markers around
// them and at the ends of lines, of one number whatever the size, padded on either side, and rows that are cut or refused.
import {
  type Args,
  type ImagePart,
  imagesIn,
  type MultimodalMessage,
  type Ok,
  reject,
} from '../../../src/index.ts';
import { type Legal, legal, repeat, sum } from '../legal.ts';

const [PAD, BEGIN, END, IMAGE, LINE, OPEN, CLOSE] = [0, 1, 2, 3, 4, 5, 6];
/** Ids of letters begin behind those above. */
const LETTERS = 10;

interface Way {
  readonly side?: 'left' | 'right';
  /** A template that puts all images of a message before its text. */
  readonly imagesFirst?: boolean;
  /** Columns and lines of placeholders. */
  readonly grid?: (image: ImagePart, images: number) => readonly [number, number];
  /** Around an image, and at the end of each of its lines. */
  readonly markers?: boolean;
  readonly trainsAll?: boolean;
  readonly means?: (color: readonly number[]) => readonly number[];
  /** What is done with rows above the limit. */
  readonly cut?: 'refused' | 'without images';
  readonly multiple?: number;
}

interface Row {
  readonly ids: readonly number[];
  readonly labels: readonly number[];
  readonly images: readonly ImagePart[];
}

const GRID = 28;
const byPatches = ({ width, height }: ImagePart): readonly [number, number] => [
  Math.ceil(width / GRID),
  Math.ceil(height / GRID),
];
/** As CLIP normalises. */
const CENTRE = [0.481, 0.458, 0.408];
const SPREAD = [0.269, 0.261, 0.276];
const normalised = (color: readonly number[]): number[] =>
  color.map((value, at) => (value / 255 - (CENTRE[at] ?? 0)) / (SPREAD[at] ?? 1));

const letters = (text: string): number[] => [...text].map((letter) => LETTERS + letter.charCodeAt(0));

function rowOf(messages: readonly MultimodalMessage[], way: Way): Row {
  const images = imagesIn(messages);
  const { grid = byPatches, markers = false } = way;
  const placeholders = (image: ImagePart): number[] => {
    const [columns, lines] = grid(image, images.length);
    const line = [...repeat(IMAGE, columns), ...(markers ? [LINE] : [])];
    return [...(markers ? [OPEN] : []), ...repeat(0, lines).flatMap(() => line), ...(markers ? [CLOSE] : [])];
  };
  const said = messages.map(({ role, content }) => {
    const first = ({ type }: { readonly type: string }): number => Number(type === 'text');
    const parts = way.imagesFirst ? content.toSorted((a, b) => first(a) - first(b)) : content;
    const words = parts.flatMap((part) => (part.type === 'image' ? placeholders(part) : letters(part.text)));
    const trained = role === 'assistant' || way.trainsAll === true;
    const ids = [...letters(`${role}:`), ...words, END];
    const head = role.length + 1;
    return {
      ids,
      labels: ids.map((id, at) => (trained && (at >= head || way.trainsAll) && id !== IMAGE ? id : -100)),
    };
  });
  return {
    ids: [BEGIN, ...said.flatMap(({ ids }) => ids)],
    labels: [-100, ...said.flatMap(({ labels }) => labels)],
    images,
  };
}

function cut(row: Row, limit: number | undefined, way: Way): Row {
  if (limit === undefined || row.ids.length <= limit) return row;
  if (way.cut === 'refused') reject('a row is longer than max_length');
  const text = row.ids
    .map((id, at) => ({ id, label: row.labels[at] ?? -100 }))
    .filter(({ id }) => id !== IMAGE);
  const kept = text.slice(0, limit);
  return { ids: kept.map(({ id }) => id), labels: kept.map(({ label }) => label), images: [] };
}

const batching =
  (way: Way) =>
  ({ conversations, padding_side, max_length }: Args<'multimodal_batch'>): Ok<'multimodal_batch'> => {
    const { grid = byPatches, means = normalised, multiple = 1 } = way;
    const rows = conversations.map((messages) => cut(rowOf(messages, way), max_length, way));
    const longest = Math.max(...rows.map(({ ids }) => ids.length));
    const width = Math.ceil(longest / multiple) * multiple;
    const padded = (values: readonly number[], fill: number): number[] => {
      const more = repeat(fill, width - values.length);
      return (padding_side ?? way.side) === 'left' ? [...more, ...values] : [...values, ...more];
    };
    return {
      input_ids: rows.map(({ ids }) => padded(ids, PAD)),
      attention_mask: rows.map(({ ids }) => padded(repeat(1, ids.length), 0)),
      labels: rows.map(({ labels }) => padded(labels, -100)),
      image_token_id: IMAGE,
      image_tokens: rows.flatMap(({ images }) =>
        images.map((image) => {
          const [columns, lines] = grid(image, images.length);
          return columns * lines;
        }),
      ),
      image_means: rows.flatMap(({ images }) => images.map(({ color }) => means(color))),
    };
  };

const made = (name: string, way: Way, can: Record<string, unknown> = {}): Legal =>
  legal(name, { multimodal_batch: batching(way) }, { can: { multimodal_batch: can } });

export const multimodalBatches: readonly Legal[] = [
  made('images in place, padded on the right', {}),
  made('images before the text, padded on the left in multiples of 8', {
    imagesFirst: true,
    side: 'left',
    multiple: 8,
  }),
  made('images of 4 tokens whatever their size', { grid: () => [2, 2] }, { padding_side: ['left', 'right'] }),
  made('images with markers around them and after each line', { markers: true }),
  made('images that are smaller where a row has several', {
    grid: (image, images) => (images > 1 ? [1, 1] : byPatches(image)),
  }),
  made('images beside text that is trained as a whole', { trainsAll: true, markers: true }),
  made('means of whole patches, in bytes', {
    means: (color) => [sum(color.map((value, at) => value * (at + 1))) / 3],
  }),
  made(
    'rows with images that are cut lose their images',
    { cut: 'without images' },
    { max_length: true, turns: 1 },
  ),
  legal('several images in a row are refused, and rows of text beside images', {
    multimodal_batch: (args) => {
      const counts = args.conversations.map((messages) => imagesIn(messages).length);
      if (Math.max(...counts) > 1 || (counts.includes(0) && sum(counts) > 0)) reject('one image in each row');
      return batching({})(args);
    },
  }),
];
