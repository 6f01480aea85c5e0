// What a carpet draws of each token: one of few looks, and frames around those that are wrong; as runs of one kind, so
// that a page of millions of tokens holds some thousand shapes.

/** Of a weight: more could not be told apart. */
export const LEVELS = 5;

/**
 * `u`: a token without a gradient; `z`: one whose weight is 0; `p1` to `p5` and `n1` to `n5`: pushed up or down, the
 * strongest last; `q`: trained, and not measured how strongly. Padding has no look. Where there are no weights, what is
 * trained is `p5` and the rest `u`.
 */
export type Look = 'u' | 'z' | 'q' | `p${number}` | `n${number}`;

/** Around a token: it is wrong; or it should be trained and is not, which nobody blames. */
export type Frame = 'wrong' | 'miss';

/** Columns [from, to) of one row. */
export interface Span<Kind> {
  readonly kind: Kind;
  readonly from: number;
  readonly to: number;
}

/** Runs of what is the same by `===`; columns without a kind have none. */
export function spansOf<Kind>(
  length: number,
  kindAt: (at: number) => Kind | undefined,
): readonly Span<Kind>[] {
  const spans: Span<Kind>[] = [];
  let kind = length > 0 ? kindAt(0) : undefined;
  for (let from = 0; from < length; ) {
    let to = from + 1;
    let next = to < length ? kindAt(to) : undefined;
    while (to < length && next === kind) {
      to++;
      next = to < length ? kindAt(to) : undefined;
    }
    if (kind !== undefined) spans.push({ kind, from, to });
    [from, kind] = [to, next];
  }
  return spans;
}
