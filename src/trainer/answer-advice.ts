// What to do about an op that raised, or answered what is no answer: the slips of a first adapter, each told by the
// words that Python and its libraries have for them. Everything else is advised to read the traceback.
import { isOptional } from '../protocol/fields.ts';
import { OPS, type Op } from '../protocol/message.ts';
import { isMiscount } from '../protocol/shapes.ts';

/** The arguments of the request as they crossed the pipe; asked for only where they are to be told. */
export type Given = () => object;

/** `message` is the exception's own sentence. */
export function raisedAdvice(op: Op | 'hello', message: string, given?: Given): string {
  if (op === 'hello') return READ;
  if (RETURNED.test(message)) return `Return a dict: ${answerOf(op)}.`;
  const sent = given === undefined ? '' : ` ${op} was given ${shapesOf(given())}.`;
  if (LISTS.test(message)) return `${TENSORS}${sent}`;
  if (op === 'advantages' && SIZES.test(message))
    return `Groups have as many rows as the case likes: a trainer with a fixed number declares it, @lossproof.op(group_size=4).${sent}`;
  if (op === 'loss' && SIZES.test(message)) return `${ONE_A_ROW}${sent}`;
  return SHAPES.test(message) ? `${READ}${sent}` : READ;
}

export function shapeAdvice(op: Op, complaint: string): string {
  if (isMiscount(complaint))
    return 'Where the adapter hands on what the trainer made, the trainer is wrong: look at how it batches, filters or joins rows.';
  const [, columns, tokens] = COLUMNS.exec(complaint) ?? [];
  if (columns !== undefined && tokens !== undefined) return layoutAdvice(op, Number(columns), Number(tokens));
  return `${op} answers ${answerOf(op)}. PROTOCOL.md has an example.`;
}

/** `hello.layout` that is no layout: the three that there are. */
export function helloAdvice(complaint: string): string {
  return complaint.includes('layout')
    ? `Layouts are ${LAYOUTS}.`
    : 'Correct the hello of the adapter; PROTOCOL.md, "hello", lists every key.';
}

const READ =
  'Read the traceback; an input that the trainer refuses on purpose is `raise lossproof.Reject("why")`.';
const TENSORS =
  'Arguments are lists unless the adapter says serve(arrays="torch") or "numpy"; rows of unequal length (prompt_ids, completion_ids) stay lists.';
const ONE_A_ROW =
  'advantages has one value per row, (B,): where the trainer has one a token, spread it as its training step would (advantages[:, None].expand_as(logprobs)).';
const LAYOUTS =
  '{"alignment": "token", "span": "row"} for (B, T), {"alignment": "predictor", "span": "row"} for (B, T-1), {"alignment": "token", "span": "completion"} for (B, C)';

/** The SDK's words. */
const RETURNED = /returned .+; return a dict/;
/** Python's words for a list where an array was meant. */
const LISTS = /list indices must be|'list' (?:object|and)|(?:and|not|got) '?list'?\b/;
/** torch's and numpy's words for shapes that do not fit. */
const SIZES =
  /must match the size|is invalid for input of size|could not be broadcast|cannot reshape|broadcast/;
/** Exceptions that the shapes of the arguments explain. */
const SHAPES = /\b(?:shape|size|dim|dimension|index|indices|broadcast\w*|length)s?\b/i;
/** See protocol/layout.ts. */
const COLUMNS = /has (\d+) columns?, the row has (\d+) tokens?/;

function layoutAdvice(op: Op, columns: number, tokens: number): string {
  if (columns > tokens) return `Answer ${op} for the columns that were sent, and for no others.`;
  const predictor = 'if index t is for token t + 1, declare layout={"alignment": "predictor", "span": "row"}';
  const completion =
    'if the array covers the completion alone, declare layout={"alignment": "token", "span": "completion"}';
  const either = columns === tokens - 1 ? `I${predictor.slice(1)}; ${completion}` : `I${completion.slice(1)}`;
  return `${either}: in serve() for all ops, or in @lossproof.op() for ${op} alone. If that is not meant, columns are lost.`;
}

/** `{"completion_mask": ..., and where the trainer has them "input_ids", ...}`. */
function answerOf(op: Op): string {
  const fields = Object.entries(OPS[op].ok as Readonly<Record<string, string>>);
  const named = (optional: boolean): string[] =>
    fields.filter(([, kind]) => isOptional(kind) === optional).map(([name]) => `"${name}": ...`);
  const [needed, more] = [named(false), named(true)];
  if (more.length === 0) return `{${needed.join(', ')}}`;
  if (needed.length === 0) return `{${more.join(', ')}}, at least one of them`;
  return `{${needed.join(', ')}}, and ${more.map((each) => each.replace(': ...', '')).join(', ')} where the trainer has them`;
}

/** `logprobs (2, 3), advantages (2), pad_token_id 0`. */
function shapesOf(args: object): string {
  return Object.entries(args)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${Array.isArray(value) ? shapeOf(value) : plain(value)}`)
    .join(', ');
}

function shapeOf(value: readonly unknown[]): string {
  const lengths = value.map((row) => (Array.isArray(row) ? row.length : -1));
  const [first] = lengths;
  if (first === undefined || first < 0) return `(${value.length},)`;
  if (lengths.some((length) => length !== first))
    return `${value.length} rows of ${[...new Set(lengths)].join(', ')}`;
  const inner = (value[0] as readonly unknown[])[0];
  return Array.isArray(inner)
    ? `(${value.length}, ${first}, ${inner.length})`
    : `(${value.length}, ${first})`;
}

function plain(value: unknown): string {
  return typeof value === 'object' || typeof value === 'string' ? typeof value : String(value);
}
