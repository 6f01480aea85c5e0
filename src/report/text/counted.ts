// A list of reasons, each behind the number of things that it holds for: what a run did not judge.
import type { Paint } from './paint.ts';
import { harmless, pad, wrap } from './visible.ts';

export interface Counted {
  readonly count: number;
  readonly text: string;
}

/** The title, and a reason a line, broken at the width. */
export function countedLines(
  title: string,
  reasons: readonly Counted[],
  { width, paint }: { readonly width: number; readonly paint: Paint },
): string[] {
  const digits = Math.max(...reasons.map(({ count }) => String(count).length));
  const label = digits + GAP.length;
  return [
    ...wrap(title, width).map(paint.bold),
    ...reasons.flatMap(({ count, text }) =>
      wrap(harmless(text), width - INDENT.length - label).map(
        (line, at) => INDENT + pad(at === 0 ? String(count).padStart(digits) : '', label) + line,
      ),
    ),
  ];
}

// --- helpers ---

const INDENT = '  ';
const GAP = '  ';
