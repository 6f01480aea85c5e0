// Which turn of a conversation has wrong labels, and whether it is the only one: a mask that is wrong in one turn was made by a rule
// for that turn.

/** Columns of an answer, in their order. */
interface Span {
  readonly from: number;
  /** Behind its stop token. */
  readonly to: number;
  /** Behind what the template writes after it. */
  readonly rest: number;
}

/** The answer that a column is in or before; behind the last one, how many there are. */
function turnOf(spans: readonly Span[], column: number): number {
  const turn = spans.findIndex(({ to, rest }) => column < Math.max(to, rest));
  return turn < 0 ? spans.length : turn;
}

/** Whether all of these columns are of one turn, of several. */
const areOfOne = (spans: readonly Span[], columns: readonly number[]): boolean =>
  spans.length > 1 && new Set(columns.map((column) => turnOf(spans, column))).size === 1;

/** Of labels that are missing in answers. */
export function untrainedWords(
  token: string,
  trains: string,
  spans: readonly Span[],
  columns: readonly number[],
): string {
  const [first = 0] = columns;
  const answer =
    spans.length < 2 ? 'an answer of the assistant' : `answer ${turnOf(spans, first) + 1} of ${spans.length}`;
  return `${token} belongs to ${answer}, but ${trains} does not train it${areOfOne(spans, columns) ? '; every other answer is trained' : ''}.`;
}

/** Of labels on what is not to be trained. */
export function trainedWords(
  token: string,
  trains: string,
  spans: readonly Span[],
  columns: readonly number[],
): string {
  const [first = 0] = columns;
  const turn = turnOf(spans, first);
  const answer = `answer ${turn + 1} of ${spans.length}`;
  const where =
    spans.length < 2
      ? 'to no answer that is to be trained'
      : turn === spans.length
        ? 'to what follows the last answer'
        : `${first >= (spans[turn]?.from ?? 0) ? 'to' : 'to what stands before'} ${answer} and is not to be trained`;
  return `${token} belongs ${where}, but ${trains} trains on it${areOfOne(spans, columns) ? '; no other turn is wrong' : ''}.`;
}
