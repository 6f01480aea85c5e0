// A data set of conversations as `view` scans it, of some 250 tokens per row; every hundredth row is flagged.
import type { View, ViewedRow } from '../../../src/view/scan.ts';

const VOCABULARY = 20_000;
const TURNS = 4;
/** Of a turn: half of it at least, and as much more. */
const TURN_TOKENS = 42;
/** Every so many rows one is flagged. */
const FLAGGED = 100;

const names = Array.from({ length: VOCABULARY }, (_, id) => `␠word${id}`);

export function viewOf(rows: number): View {
  const next = numbers(7);
  const all = Array.from({ length: rows }, (_, at) => rowOf(at + 1, next));
  const flagged = all.filter(({ faults }) => faults.length > 0);
  const sizes = {
    tokens: all.map(({ row }) => row?.ids.length ?? 0),
    trained: all.map(({ row }) => row?.trained.filter(Boolean).length ?? 0),
  };
  const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0);
  return {
    rows,
    flagged: flagged.length,
    unread: 0,
    tokens: sum(sizes.tokens),
    trained: sum(sizes.trained),
    roles: [],
    sizes,
    counts: [],
    assumed: [],
    kept: [...flagged, ...all.filter(({ faults }) => faults.length === 0)],
  };
}

/** Of a turn of a conversation: few words often, most of them hardly ever, as in any language. */
export function turnOf(next: () => number): number[] {
  return Array.from({ length: Math.floor(TURN_TOKENS * (1 + next())) }, () =>
    Math.floor(VOCABULARY * next() ** 6),
  );
}

/** From 0 to 1, the same on every machine. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x8000_0000;
  };
}

// --- helpers ---

function rowOf(number: number, next: () => number): ViewedRow {
  const turns = Array.from({ length: TURNS }, () => turnOf(next));
  const ids = turns.flat();
  const trained = turns.flatMap((turn, at) => turn.map(() => at % 2 === 1));
  return {
    number,
    form: 'messages',
    texts: ids.map((id) => names[id] ?? ''),
    faults:
      number % FLAGGED === 0 ? [{ id: 'no-stop', sentence: 'No stop.', columns: [ids.length - 1] }] : [],
    row: {
      ids,
      trained,
      roles: trained.map((each) => (each ? 'completion' : 'prompt')),
      turns: [],
      answers: [],
      said: [],
      straddles: [],
      real: { from: 0, to: ids.length },
      lost: 0,
    },
  };
}
