// Bugs of conversations with images.
import type { Bug } from '../bug.ts';

export const images: readonly Bug[] = [
  {
    id: 'IMG-01',
    what: 'The placeholders of images are trained.',
    seen: ['NielsRogge/Transformers-Tutorials#511', 'MakazhanAlpamys/Soup#488'],
    todo: 'Set labels to -100 wherever `input_ids == image_token_id`, after the processor has expanded the placeholders, and count how many trained tokens are placeholders: none.',
  },
  {
    id: 'IMG-02',
    what: 'A row has another number of placeholders than its images have features.',
    seen: [],
    todo: 'Let the processor that makes the pixels also expand the placeholders, in one call with its own settings of size, patch and merging. Do not compute the number a second time.',
  },
  {
    id: 'IMG-03',
    what: 'A row is cut inside an image, or its pixels stay where its placeholders are cut.',
    seen: ['huggingface/trl#5904', 'PrimeIntellect-ai/prime-rl#2013'],
    todo: 'Cut rows before the first image that does not fit, and drop its pixels and its row of the grid with it; or drop the row, and count such rows.',
  },
  {
    id: 'IMG-04',
    what: 'Images are in another order than their places in the text.',
    seen: [],
    todo: 'Collect images by walking the messages as the template does, message by message and part by part, and send two images in one row through it.',
  },
  {
    id: 'IMG-05',
    what: 'Rows are sorted, shuffled or split, and their pixels are not.',
    seen: ['unslothai/unsloth-zoo#1271', 'huggingface/trl#6570'],
    todo: 'Keep the number of images of each row, and move pixels by it: the first index of `pixel_values` counts images or patches, not rows. Try a batch whose rows have 2, 0 and 1 images.',
  },
  {
    id: 'IMG-06',
    what: 'The prompt is measured before the placeholders are expanded.',
    seen: [],
    todo: 'Measure the prompt in ids that the processor made with its images, or label by roles; the same tokens must be trained with the images and without them.',
  },
  {
    id: 'IMG-07',
    what: 'A row without images changes in a batch with images.',
    seen: [],
    todo: 'A dummy image that keeps the vision tower busy belongs outside the batch: no placeholder and no feature of it may be in a row.',
  },
  {
    id: 'IMG-08',
    what: 'The attention mask hides the placeholders of images.',
    seen: [],
    todo: 'Make the mask from lengths. Padding with the id of the placeholder, or a mask of ids below the size of the vocabulary, takes images for padding.',
  },
];
