import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeTrack, encodeTrack } from '../../src/protocol/layout.ts';
import type { Layout } from '../../src/vocabulary.ts';

const LAYOUTS: readonly Layout[] = [
  { alignment: 'token', span: 'row' },
  { alignment: 'predictor', span: 'row' },
  { alignment: 'token', span: 'completion' },
  { alignment: 'predictor', span: 'completion' },
];
const TRACK = [[10, 11, 12, 13, 14]];

/** A (B, T) track and a prompt width of it. */
const tracks = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 8 })).chain(([b, t]) =>
  fc.record({
    track: fc.array(fc.array(fc.integer(), { minLength: t, maxLength: t }), { minLength: b, maxLength: b }),
    promptWidth: fc.integer({ min: 0, max: t }),
  }),
);

describe('layout', () => {
  test.each([
    [LAYOUTS[0], [[10, 11, 12, 13, 14]], [[10, 11, 12, 13, 14]]],
    [LAYOUTS[1], [[11, 12, 13, 14]], [[-1, 11, 12, 13, 14]]],
    [LAYOUTS[2], [[12, 13, 14]], [[-1, -1, 12, 13, 14]]],
    [LAYOUTS[3], [[12, 13, 14]], [[-1, -1, 12, 13, 14]]],
  ])(
    '%j: goes out and comes back as PROTOCOL.md draws it',
    (layout = { alignment: 'token', span: 'row' }, out, back) => {
      expect(encodeTrack(TRACK, 2, layout)).toEqual(out);
      expect(decodeTrack(out, 5, layout, -1)).toEqual({ ok: back });
    },
  );

  test.each(LAYOUTS)('%j: every position that the layout has survives the round trip', (layout) => {
    fc.assert(
      fc.property(tracks, ({ track, promptWidth }) => {
        const width = track[0]?.length ?? 0;
        const first = layout.span === 'completion' ? promptWidth : layout.alignment === 'predictor' ? 1 : 0;
        const back = decodeTrack(encodeTrack(track, promptWidth, layout), width, layout, Number.NaN);
        const expected = track.map((row) => row.map((x, t) => (t < first ? Number.NaN : x)));
        expect(back).toEqual({ ok: expected });
      }),
    );
  });

  test('a predictor track of full width loses its last column, which predicts nothing in the row', () => {
    expect(decodeTrack([[11, 12, 13, 14, 99]], 5, { alignment: 'predictor', span: 'row' }, 0)).toEqual({
      ok: [[0, 11, 12, 13, 14]],
    });
  });

  test.each([
    [LAYOUTS[0], 4, 'has 4 columns, the row has 5 tokens'],
    [LAYOUTS[1], 3, 'has 3 columns, the row has 5 tokens, so its predictor layout has 4'],
    [LAYOUTS[2], 6, 'has 6 columns, the completion cannot be wider than its row of 5'],
  ])(
    '%j with %i columns does not fit, and both widths are said',
    (layout = { alignment: 'token', span: 'row' }, columns, complaint) => {
      expect(decodeTrack([Array<number>(columns).fill(0)], 5, layout, 0)).toEqual({ complaint });
    },
  );
});
