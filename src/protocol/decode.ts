// What came over the pipe, as typed values or as one complaint. Everything is checked against OPS, always: a
// property may trust the shapes of what it is given. Numbers are not judged here, NaN in a float field is legal.
import { clipped, onOneLine } from '../outside/text.ts';
import type { Layout, Matrix } from '../vocabulary.ts';
import { isOptional, isTrack, kindOf } from './fields.ts';
import { decodeKind } from './kinds.ts';
import { type Answer, type Args, type FieldSpecs, type Ok, OPS, type Op, type Raised } from './message.ts';
import { unknownName } from './nearest.ts';
import { type Decoded, isJsonObject, type JsonObject, shown } from './result.ts';
import { placeTrack, shapeComplaint } from './shapes.ts';

export { decodeHello } from './hello.ts';

/** One of the four answers to `op` called with `args` (token-aligned); tracks come back token-aligned. */
export function decodeAnswer<O extends Op>(
  op: O,
  value: unknown,
  args: Args<O>,
  layout: Layout,
): Decoded<Answer<Ok<O>>> {
  if (!isJsonObject(value)) return { complaint: `the answer is ${shown(value)}, expected an object` };
  const kinds = Object.keys(value).filter((key) => key !== 'id' && !(key === WRITTEN && 'ok' in value));
  const kind = kinds[0];
  if (kinds.length !== 1 || kind === undefined) {
    const has = kinds.length === 0 ? 'none' : kinds.join(' and ');
    return { complaint: `the answer must have exactly one of ${ANSWERS.join(', ')}, it has ${has}` };
  }
  if (kind === 'ok') {
    const answer = decodeOk(op, value.ok, args, layout);
    return 'complaint' in answer || value[WRITTEN] === undefined
      ? answer
      : withWritten(op, answer.ok, value[WRITTEN]);
  }
  if (kind === 'reject' || kind === 'skip') {
    const why = value[kind];
    if (typeof why !== 'string')
      return { complaint: `${kind} is ${shown(why)}, expected the reason as a string` };
    const said = onOneLine(why, MOST_REASON);
    return { ok: kind === 'reject' ? { reject: said } : { skip: said } };
  }
  if (kind === 'error') return decodeError(value.error);
  return { complaint: unknownName('answer', kind, ANSWERS) };
}

/** Checks a request's `args` as they cross the pipe against OPS: for PROTOCOL.md's examples and hand-edited cases. */
export function requestComplaint(op: Op, args: unknown): string | undefined {
  const fields = decodeFields(args, OPS[op].args, 'args');
  return 'complaint' in fields ? fields.complaint : undefined;
}

const ANSWERS = ['ok', 'reject', 'skip', 'error'];
/** Beside `ok`: the names of the arguments that the op wrote into. */
const WRITTEN = 'written';
const OPTIONS = 'options';

function decodeOk<O extends Op>(
  op: O,
  value: unknown,
  args: Args<O>,
  layout: Layout,
): Decoded<Answer<Ok<O>>> {
  const request = args as JsonObject;
  const fields = decodeFields(value, OPS[op].ok, 'ok', OPTIONS);
  if ('complaint' in fields) return fields;
  const { [OPTIONS]: options, ...ok } = fields.ok;
  const complaint =
    (options === undefined ? undefined : optionsComplaint(options, request)) ??
    shapeComplaint(op, request, ok);
  if (complaint !== undefined) return { complaint };
  for (const [name, spec] of Object.entries(OPS[op].ok)) {
    const kind = kindOf(spec);
    const track = ok[name];
    if (track === undefined || !isTrack(kind)) continue;
    const placed = placeTrack({ name, kind, value: track as Matrix }, request, ok, layout);
    if ('complaint' in placed) return { complaint: `ok.${name} ${placed.complaint}` };
    ok[name] = placed.ok;
  }
  return { ok: { ok: ok as Ok<O> } };
}

function withWritten<T>(op: Op, answer: Answer<T>, written: unknown): Decoded<Answer<T>> {
  const names = Object.keys(OPS[op].args);
  if (!Array.isArray(written) || !written.every((name) => typeof name === 'string' && names.includes(name)))
    return { complaint: `written is ${shown(written)}, expected a list of arguments of ${op}` };
  return { ok: { ...answer, written } };
}

function decodeFields(
  value: unknown,
  specs: FieldSpecs,
  path: string,
  extra?: string,
): Decoded<Record<string, unknown>> {
  if (!isJsonObject(value)) return { complaint: `${path} is ${shown(value)}, expected an object` };
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(specs, key) && key !== extra) {
      // A key that is missing was probably meant rather than one that is there or optional.
      const missing = Object.keys(specs).filter(
        (name) => !isOptional(specs[name] ?? '?') && !(name in value),
      );
      return { complaint: `${path} has an ${unknownName('key', key, [...missing, ...Object.keys(specs)])}` };
    }
  }
  const fields: Record<string, unknown> = {};
  for (const name in specs) {
    const spec = specs[name];
    if (spec === undefined) continue;
    const field = value[name];
    // Python writes an absent optional as null.
    if (field === undefined || (field === null && isOptional(spec))) {
      if (isOptional(spec)) continue;
      return { complaint: `${path}.${name} is missing` };
    }
    const decoded = decodeKind(kindOf(spec), field, `${path}.${name}`);
    if ('complaint' in decoded) return decoded;
    fields[name] = decoded.ok;
  }
  if (extra !== undefined && value[extra] !== undefined) fields[extra] = value[extra];
  return { ok: fields };
}

/** The trainer echoes the options it really used: one that the request also names must have kept its value. */
function optionsComplaint(options: unknown, request: JsonObject): string | undefined {
  if (!isJsonObject(options)) return `ok.options is ${shown(options)}, expected an object`;
  for (const [name, used] of Object.entries(options)) {
    const asked = request[name];
    if (asked !== undefined && !sameOption(asked, used)) {
      return `ok.options.${name} is ${shown(used)}, the request asked for ${shown(asked)}`;
    }
  }
  return undefined;
}

function sameOption(asked: unknown, used: unknown): boolean {
  if (typeof asked === 'number' && typeof used === 'number') {
    return Math.fround(asked) === Math.fround(used); // a float32 trainer echoes 0.7 as 0.699999988
  }
  return JSON.stringify(asked) === JSON.stringify(used);
}

function decodeError(error: unknown): Decoded<{ error: Raised }> {
  if (!isJsonObject(error) || typeof error.message !== 'string') {
    return { complaint: `error is ${shown(error)}, expected {"message": string, "traceback": string}` };
  }
  const message = clipped(error.message, MOST_MESSAGE);
  const { traceback, adapter, restart } = error;
  return {
    ok: {
      error: {
        message,
        ...(typeof traceback === 'string' ? { traceback: clipped(traceback, MOST_TRACEBACK) } : {}),
        ...(adapter === true ? { adapter } : {}),
        ...(restart === true ? { restart } : {}),
      },
    },
  };
}

/** Each is repeated in every event, page and file that speaks of the failure. */
const MOST_MESSAGE = 2_000;
const MOST_TRACEBACK = 20_000;
const MOST_REASON = 1_000;
