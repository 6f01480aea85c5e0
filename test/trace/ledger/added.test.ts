// Tokens that were added: asked about where nothing trains their rows, and a remark where the checkpoint may have.
import { describe, expect, test } from 'vitest';
import type { TensorUpdate } from '../../../src/trace/ledger.ts';
import { holds, judged, silent } from './judged.ts';
import { FROZEN, tensor, update } from './tensors.ts';

const ID = 'update/added-tokens-are-trained';

interface Sketch {
  readonly embedding?: Partial<TensorUpdate>;
  readonly head?: Partial<TensorUpdate>;
  readonly more?: readonly TensorUpdate[];
  /** Names of the embedding's tensors, and of the head's. */
  readonly names?: readonly string[];
  readonly heads?: readonly string[];
  readonly values?: object;
  readonly ids?: readonly number[];
  readonly prompt?: number;
}

/** Token 30 was added; it is read, and with a prompt of 1 trained. */
const of = ({
  embedding = {},
  head = {},
  more = [],
  names = ['embed.w'],
  heads = ['head.w'],
  values = {},
  ids = [5, 30, 7, 2],
  prompt = 2,
}: Sketch): Parameters<typeof judged>[1] => {
  return {
    rows: [{ ids, prompt }],
    updates: [update([tensor('embed.w', embedding), tensor('head.w', head), ...more])],
    events: [
      {
        what: 'added',
        model: 0,
        place: 'train.py:3',
        names,
        values: { ids: [30, 31], written: [], grown: true, head: heads, ...values },
      },
    ],
  };
};

const said = (sketch: Sketch): string => {
  const { notices = [] } = judged(ID, of(sketch));
  expect(notices.every(({ asked }) => asked === true)).toBe(true);
  return notices.map(({ sentence }) => sentence).join(' ');
};

describe('is asked about', () => {
  test('an embedding that is frozen, and one that no optimiser holds', () => {
    expect(said({ embedding: FROZEN })).toContain(
      '1 token was added at train.py:3: id 30. 1 row reads it, and the embedding (embed.w) is not trained',
    );
    expect(said({ embedding: { ...FROZEN, trainable: true } })).toContain('is not trained');
  });

  test('a head that is frozen, of a token that is trained', () => {
    expect(said({ head: FROZEN, prompt: 1 })).toContain(
      '1 row trains it, and the head (head.w) is not trained',
    );
  });
});

describe('is right', () => {
  test.each<[what: string, sketch: Sketch]>([
    ['where both are trained', {}],
    ['where the head is frozen, and no row trains the token', { head: FROZEN }],
    [
      'where an adapter of the embedding is trained',
      { embedding: FROZEN, names: ['embed.w', 'embed.delta'], more: [tensor('embed.delta')] },
    ],
    ['of a head that is the embedding', { head: FROZEN, heads: ['embed.w'], prompt: 1 }],
  ])('%s', (_what, sketch) => {
    holds(ID, of(sketch));
    expect(judged(ID, of(sketch)).notices).toBeUndefined();
  });

  test.each<[what: string, sketch: Sketch]>([
    ['that no row has', { embedding: FROZEN, ids: [5, 6, 7, 2] }],
    ['whose rows the script wrote', { embedding: FROZEN, values: { written: [30] } }],
  ])('where nothing is said of tokens %s', (_what, sketch) => {
    silent(ID, of(sketch));
  });
});

test('of rows that the checkpoint had, it is a remark', () => {
  const { notices } = judged(ID, of({ embedding: FROZEN, values: { grown: false } }));
  expect(notices).toMatchObject([{ remark: true }]);
  silent(
    ID,
    of({ embedding: FROZEN, values: { grown: false } }),
    'the checkpoint may have trained the token',
  );
});
