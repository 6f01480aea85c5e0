// A legal parser and environment, other than the Python examples have them.
import { type Args, type Ok, reject } from '../../../src/index.ts';
import { type Legal, legal } from '../legal.ts';

const TOOLS = [
  { name: 'look', parameters: { at: 'string' } },
  { name: 'wait', parameters: {} },
  { name: 'turn', parameters: { by: 'number', fast: 'boolean' } },
] as const;
const OPEN = '<call>';
const CLOSE = '</call>';

/** Mends commas and braces, takes a call whose closing tag the sampler left out, and calls all else bad JSON. */
function forgiving({ text }: Args<'parse_tool_call'>): Ok<'parse_tool_call'> {
  const at = text.indexOf(OPEN);
  if (at < 0) return { status: 'no_call' };
  const end = text.lastIndexOf(CLOSE);
  const body = (end < at ? text.slice(at + OPEN.length) : text.slice(at + OPEN.length, end)).trim();
  const call =
    parsed(body) ?? (end < at ? undefined : (parsed(`${body}}`) ?? parsed(body.replace(/,}$/, '}'))));
  if (call === undefined) return { status: end < at ? 'truncated' : 'bad_json' };
  const { name, arguments: given } = call as { name?: unknown; arguments?: unknown };
  const tool = TOOLS.find((each) => each.name === name);
  if (tool === undefined) return { status: 'unknown_tool' };
  const owed = Object.entries(tool.parameters);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { status: 'bad_arguments' };
  const values = given as Readonly<Record<string, unknown>>;
  if (owed.some(([key, kind]) => typeof values[key] !== kind)) return { status: 'bad_arguments' };
  return { status: 'call', name: tool.name, arguments: JSON.stringify(values) };
}

/** Arguments wherever engines write them, converted as far as they can be; what no tool asked for is dropped. */
function converting({ text }: Args<'parse_tool_call'>): Ok<'parse_tool_call'> {
  const body = text.split(OPEN).slice(1).join(OPEN).split(CLOSE);
  const call = parsed((body[0] ?? '').trim()) as Readonly<Record<string, unknown>> | undefined;
  if (body.length < 2 || call === undefined) return forgiving({ text });
  const { name, arguments: own, parameters, args } = call;
  const tool = TOOLS.find((each) => each.name === name);
  if (typeof name !== 'string' || name === '') return { status: 'bad_json' };
  if (tool === undefined) return { status: 'unknown_tool' };
  const given = own ?? parameters ?? args;
  const read = typeof given === 'string' ? parsed(given) : given;
  if (given === undefined || given === null) return { status: 'bad_json' };
  if (typeof read !== 'object' || Array.isArray(read)) return { status: 'bad_arguments' };
  const values = Object.entries(tool.parameters).map(([key, kind]) => [
    key,
    converted((read as Readonly<Record<string, unknown>>)[key], kind),
  ]);
  if (values.some(([, value]) => value === undefined)) return { status: 'bad_arguments' };
  return { status: 'call', name, arguments: JSON.stringify(Object.fromEntries(values)) };
}

function converted(value: unknown, kind: string): unknown {
  if (typeof value === kind) return value;
  if (value === null || typeof value === 'object' || value === undefined) return undefined;
  if (kind === 'string') return String(value);
  if (kind === 'boolean') return value === 1 || value === '1' ? true : undefined;
  return Number.isFinite(Number(value)) ? Number(value) : undefined;
}

function parsed(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whatever is no call ends the episode, with nothing to say; calls are free. */
function endsAtMistakes({ text }: Args<'tool_step'>): Ok<'tool_step'> {
  const { status } = forgiving({ text });
  const called = status === 'call';
  return { observation: called ? 'done' : '', reward: 0, status, done: called ? 0 : 1 };
}

/** The tools themselves are elsewhere: what calls one is refused here. */
const withoutTools = ({ text }: Args<'tool_step'>): Ok<'tool_step'> =>
  forgiving({ text }).status === 'call' ? reject('the tools are not running') : endsAtMistakes({ text });

/** A search engine behind tags: whatever stands between them is the query, and all else an answer. */
function searching({ text }: Args<'tool_step'>): Ok<'tool_step'> {
  const called = text.includes(OPEN) && text.lastIndexOf(CLOSE) > text.indexOf(OPEN);
  return {
    observation: called ? 'found' : '',
    reward: 0,
    status: called ? 'call' : 'no_call',
    done: called ? 0 : 1,
  };
}

const CALLS = { tags: { tool_call: 'call', answer: 'final' }, tool_specs: TOOLS };

export const tools: readonly Legal[] = [
  legal(
    'a parser that mends, and an environment that ends at mistakes',
    { parse_tool_call: forgiving, tool_step: endsAtMistakes },
    { can: { parse_tool_call: CALLS, tool_step: CALLS } },
  ),
  legal(
    'an environment whose tools are not running',
    { parse_tool_call: forgiving, tool_step: withoutTools },
    { can: { parse_tool_call: CALLS, tool_step: CALLS } },
  ),
  legal(
    'a parser that converts arguments',
    { parse_tool_call: converting },
    { can: { parse_tool_call: CALLS } },
  ),
  legal(
    'an environment whose calls are free text',
    { tool_step: searching },
    { can: { tool_step: CALLS }, is: { free_text_calls: true } },
  ),
];
