// Shorter versions of a row of a data set: fewer turns, then shorter texts, those that take most away first. What makes a
// row one that trainers read is kept: a question before an answer, a result behind its call.

export function shorterRows(row: unknown): readonly unknown[] {
  if (Array.isArray(row)) return shorterTurns(row);
  if (!isObject(row)) return [];
  return Object.entries(row).flatMap(([key, value]) =>
    Array.isArray(value)
      ? TURNS.has(key)
        ? shorterTurns(value).map((turns) => ({ ...row, [key]: turns }))
        : []
      : typeof value === 'string' && !NAMES.has(key)
        ? shorterTexts(value).map((text) => ({ ...row, [key]: text }))
        : [],
  );
}

// --- helpers ---

type Turn = Readonly<Record<string, unknown>>;

/** Keys under which a conversation stands: columns of ids and masks go together, and are left as they are. */
const TURNS = new Set([
  'messages',
  'conversations',
  'conversation',
  'prompt',
  'completion',
  'chosen',
  'rejected',
]);
/** Texts that name something. */
const NAMES = new Set(['id', 'source', 'role', 'from', 'tools', 'name']);

const isObject = (value: unknown): value is Turn =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const speakerOf = (turn: unknown): unknown => (isObject(turn) ? (turn.role ?? turn.from) : undefined);
const isQuestion = (turn: unknown): boolean => ['user', 'human'].includes(String(speakerOf(turn)));
const isSystem = (turn: unknown): boolean => speakerOf(turn) === 'system';

function shorterTurns(turns: readonly unknown[]): (readonly unknown[])[] {
  const head = turns.filter(isSystem);
  const starts = turns.flatMap((turn, at) => (isQuestion(turn) ? [at] : []));
  // An exchange is a question with all that follows until the next one.
  const exchanges = starts.map((from, at) => turns.slice(from, starts[at + 1]));
  const alone = exchanges.length > 1 ? exchanges.map((exchange) => [...head, ...exchange]) : [];
  const dropped =
    exchanges.length > 2
      ? exchanges.map((_, at) => [...head, ...exchanges.filter((_, other) => other !== at).flat()])
      : [];
  const bare = head.length > 0 && turns.length > head.length ? [turns.filter((turn) => !isSystem(turn))] : [];
  return [...alone, ...dropped, ...bare, ...shorterContents(turns)];
}

function shorterContents(turns: readonly unknown[]): (readonly unknown[])[] {
  return turns.flatMap((turn, at) => {
    if (!isObject(turn)) return [];
    const key = typeof turn.content === 'string' ? 'content' : 'value';
    const text = turn[key];
    if (typeof text !== 'string') return [];
    return shorterTexts(text).map((less) =>
      turns.map((each, other) => (other === at ? { ...turn, [key]: less } : each)),
    );
  });
}

/** One word, half of them, all but one; an empty text is another case, and not a shorter one. */
function shorterTexts(text: string): readonly string[] {
  const words = text.split(/(?<=\s)(?=\S)/u);
  if (words.length > 1) {
    const half = Math.ceil(words.length / 2);
    const cuts = [
      [words[0] ?? ''],
      words.slice(0, half),
      words.slice(half),
      words.slice(0, -1),
      words.slice(1),
    ];
    return [...new Set(cuts.map((cut) => cut.join('')))].filter(
      (less) => less !== '' && less.length < text.length,
    );
  }
  const letters = Array.from(text);
  return letters.length > LONG_WORD ? [letters.slice(0, Math.ceil(letters.length / 2)).join('')] : [];
}

/** Shorter words are no easier to read. */
const LONG_WORD = 12;
