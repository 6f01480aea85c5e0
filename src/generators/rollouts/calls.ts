// Texts of one assistant turn with a tool call in it, or something like one. What is wrong with a call is known from
// how it was made.
import fc from 'fast-check';
import type { ToolSpec } from '../../vocabulary.ts';
import type { Tags } from '../advantages/blocks.ts';
import { degenerate } from '../advantages/graded.ts';

export type CallKind =
  | 'call'
  | 'no call'
  | 'not json'
  | 'unknown tool'
  | 'missing argument'
  | 'argument of a wrong type'
  | 'argument of another type'
  | 'number beyond all'
  | 'further argument'
  | 'no arguments'
  | 'arguments elsewhere'
  | 'arguments are no object'
  | 'cut'
  | 'unclosed'
  | 'repairable'
  | 'json but no call'
  | 'deep'
  | 'any text';

export interface CallText {
  readonly kind: CallKind;
  readonly text: string;
  /** The tool that is meant, and its arguments as JSON, where it is known what they come to. */
  readonly name?: string;
  readonly arguments?: string;
}

const NEEDS_PARAMETERS: readonly CallKind[] = [
  'missing argument',
  'argument of a wrong type',
  'argument of another type',
  'further argument',
  'no arguments',
  'arguments elsewhere',
  'arguments are no object',
];
const KINDS: readonly CallKind[] = [
  'call',
  'no call',
  'not json',
  'unknown tool',
  ...NEEDS_PARAMETERS,
  'number beyond all',
  'cut',
  'unclosed',
  'repairable',
  'json but no call',
  'deep',
  'any text',
];

/** Texts, each for itself: what most parsers get right is a long list, and one text says little. */
export interface CallTexts {
  readonly texts: readonly CallText[];
}
const MAX_TEXTS = 6;

/**
 * Arbitrary texts with tool calls in these tags, well formed or wrong in a known way; `kinds` leaves only some ways.
 */
export function callTexts(
  tools: readonly ToolSpec[],
  tags: Tags,
  kinds?: readonly CallKind[],
): fc.Arbitrary<CallTexts> {
  return fc.record({
    texts: fc.array(callText(tools, tags, kinds), { minLength: 1, maxLength: MAX_TEXTS, size: 'max' }),
  });
}

/** A turn of one of the kinds that are asked for; default: all of them. */
export function callText(
  tools: readonly ToolSpec[],
  tags: Tags,
  kinds: readonly CallKind[] = KINDS,
): fc.Arbitrary<CallText> {
  const possible = kinds.filter((kind) => usableFor(kind, tools).length > 0);
  return fc
    .constantFrom(...possible)
    .chain((kind) =>
      fc.constantFrom(...usableFor(kind, tools)).chain((tool) => ofKind(kind, tool, tools, tags)),
    );
}

function usableFor(kind: CallKind, tools: readonly ToolSpec[]): readonly ToolSpec[] {
  if (kind === 'number beyond all') return tools.filter((tool) => numberOf(tool) !== undefined);
  return NEEDS_PARAMETERS.includes(kind) ? tools.filter(hasParameters) : tools;
}

const numberOf = ({ parameters }: ToolSpec): string | undefined =>
  Object.keys(parameters).find((name) => parameters[name] === 'number');

/** The kinds of the texts. */
export function callLabels({ texts }: CallTexts): string[] {
  return [...new Set(texts.flatMap(labelsOf))];
}

function labelsOf({ kind, text, arguments: given = '' }: CallText): string[] {
  const labels: string[] = [kind];
  if (/[{}]/.test(given.slice(1, -1))) labels.push('brace in a string');
  if (given.includes('\\')) labels.push('escape in a string');
  if (text.includes('\n')) labels.push('several lines');
  return labels;
}

const hasParameters = ({ parameters }: ToolSpec): boolean => Object.keys(parameters).length > 0;

const STRINGS = [
  'a',
  ' a ',
  '\n',
  '',
  '{',
  '}',
  'say "x"',
  '\\',
  'two\nlines',
  '東京',
  "it's",
  '{"name": "b"}',
  'a, b',
  // What a parser that mends or normalises all of a text makes something else of.
  'e\u0301',
  '①：ﬁ',
  '“a”',
  'None, True',
  '[a,]{b,}',
];
/** What a number of 32 bits does not hold. */
const NUMBERS = [16_777_217, 4_294_967_296, 0.1, 1e21];
const PREFIXES = ['', 'Let me see.', '{"a": 1} was no help.', 'I will call a tool:\n'];
const NO_JSON = ['search for cats', 'query: cats', 'search(cats)', '<query>cats</query>'];
const NO_CALL = ['[1]', '[]', '5', 'null', '"a"', '{}', '{"name": 5, "arguments": {}}', 'true'];
/** One token repeated again; a parser that goes down with it overflows its stack. */
const DEEP = '['.repeat(2000);
const NO_OBJECT = [5, 'a', [1], true];
/** No type of an argument has these, whatever a parser converts. */
const NO_VALUE = [[1], null, {}];
/** Of one type of argument each, and not far from another. */
const OTHER_VALUES = [true, 1, '1', 'a'];
/** Python reads them, and they are no number that a whole one can be made of. */
const BEYOND_ALL = ['1e999', '-1e999', 'NaN'];
const PLACE = '#';

function ofKind(
  kind: CallKind,
  tool: ToolSpec,
  tools: readonly ToolSpec[],
  tags: Tags,
): fc.Arbitrary<CallText> {
  const values = fc.record(
    Object.fromEntries(Object.entries(tool.parameters).map(([name, type]) => [name, argumentOf(type)])),
  );
  const [open, close] = [`<${tags.tool_call}>`, `</${tags.tool_call}>`];
  const piece = fc.constantFrom(open, close, '{', '}', '"', '[', ':', 'a', '\\', '\n');
  return fc
    .record({
      values,
      prefix: fc.constantFrom(...PREFIXES),
      lines: fc.boolean(),
      pretty: fc.boolean(),
      pick: fc.nat(PICKS),
      broken: degenerate([], [open, close]),
      pieces: fc.array(piece, { maxLength: MAX_PIECES }),
    })
    .map((drawn) => made(kind, drawn, { tool, unknown: unknownNames(tool, tools), open, close, tags }));
}

interface Drawn {
  readonly values: Readonly<Record<string, unknown>>;
  readonly prefix: string;
  readonly lines: boolean;
  readonly pretty: boolean;
  /** Which parameter, which way, where to cut. */
  readonly pick: number;
  readonly broken: string;
  readonly pieces: readonly string[];
}
const PICKS = 1000;
const MAX_PIECES = 5;

interface About {
  readonly tool: ToolSpec;
  readonly unknown: readonly string[];
  readonly open: string;
  readonly close: string;
  readonly tags: Tags;
}

function made(kind: CallKind, drawn: Drawn, { tool, unknown, open, close, tags }: About): CallText {
  const { values, prefix, pick } = drawn;
  const edge = drawn.lines ? '\n' : '';
  const written = (call: object): string => JSON.stringify(call, undefined, drawn.pretty ? 2 : undefined);
  const json = (name: string, given: unknown): string => written({ name, arguments: given });
  const within = (body: string): CallText => ({
    kind,
    text: `${prefix}${open}${edge}${body}${edge}${close}`,
  });
  const whole = json(tool.name, values);
  const meant = { name: tool.name, arguments: JSON.stringify(values) };
  const names = Object.keys(values);
  const one = names[pick % Math.max(1, names.length)] ?? '';
  const way = Math.trunc(pick / Math.max(1, names.length));
  switch (kind) {
    case 'call':
      return { ...within(whole), ...meant };
    case 'no call':
      return { kind, text: `${prefix}<${tags.answer}>42</${tags.answer}>` };
    case 'not json':
      return within(at(NO_JSON, pick));
    case 'unknown tool':
      return within(json(at(unknown, pick), values));
    case 'missing argument':
      return within(
        json(tool.name, Object.fromEntries(Object.entries(values).filter(([name]) => name !== one))),
      );
    case 'argument of a wrong type':
      return within(json(tool.name, { ...values, [one]: at(NO_VALUE, way) }));
    case 'argument of another type': {
      const others = OTHER_VALUES.filter((value) => typeof value !== tool.parameters[one]);
      return { ...within(json(tool.name, { ...values, [one]: at(others, way) })), name: tool.name };
    }
    case 'number beyond all': {
      const placed = json(tool.name, { ...values, [numberOf(tool) ?? one]: PLACE });
      const text = placed.replace(JSON.stringify(PLACE), at(BEYOND_ALL, pick));
      return { ...within(text), name: tool.name };
    }
    case 'further argument':
      return { ...within(json(tool.name, { ...values, [`${names.join('_')}_b`]: 1 })), name: tool.name };
    case 'no arguments':
      return within(written({ name: tool.name, ...(pick % 2 === 0 ? {} : { arguments: null }) }));
    case 'arguments elsewhere': {
      const where = at([{ parameters: values }, { args: values }, { arguments: meant.arguments }], pick);
      return { ...within(written({ name: tool.name, ...where })), ...meant };
    }
    case 'arguments are no object':
      return within(json(tool.name, at(NO_OBJECT, pick)));
    case 'cut':
      return { kind, text: `${prefix}${open}${edge}${whole.slice(0, 1 + (pick % lastWord(whole)))}` };
    case 'unclosed':
      return { kind, text: `${prefix}${open}${edge}${whole}`, ...meant };
    case 'repairable':
      return { ...within(pick % 2 === 0 ? whole.slice(0, -1) : `${whole.slice(0, -1)},}`), ...meant };
    case 'json but no call':
      return within(at([...NO_CALL, json('', values), written({ arguments: values })], pick));
    case 'deep':
      return within(DEEP);
    case 'any text':
      return { kind, text: pick % 2 === 0 ? drawn.broken : drawn.pieces.join('') };
  }
}

/** Where the last character stands that is no closing brace: what lacks those only can be mended. */
const lastWord = (json: string): number => json.replace(/[}\s]+$/, '').length - 1;

const at = <T>(choices: readonly T[], pick: number): T => choices[pick % choices.length] as T;

function argumentOf(type: 'string' | 'number' | 'boolean'): fc.Arbitrary<unknown> {
  if (type === 'boolean') return fc.boolean();
  // Quarters are exact in every format, and -0 is no JSON of every library.
  if (type === 'number')
    return fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: -8, max: 8 }).map((n) => n / 4 + 0) },
      { weight: 1, arbitrary: fc.constantFrom(...NUMBERS) },
    );
  return fc.constantFrom(...STRINGS);
}

/** A name that is not there: one more, and such as are a part of those that are. */
function unknownNames({ name }: ToolSpec, tools: readonly ToolSpec[]): readonly string[] {
  const names = tools.map((tool) => tool.name);
  let further = `${name}_b`;
  while (names.includes(further)) further += 'b';
  const parts = [name.slice(0, -1), name.slice(1), names.join(',')];
  return [further, ...parts.filter((part) => part !== '' && !names.includes(part))];
}
