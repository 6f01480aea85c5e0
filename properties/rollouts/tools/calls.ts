// Parsers of tool calls. A policy writes anything; every text has a status, each kind of mistake its own, and none
// raises.
import {
  CALL_STATUSES,
  type CallKind,
  type CallText,
  type CallTexts,
  callStatuses,
  type Finding,
  type Ok,
  type Property,
  parseStrict,
  type World,
} from '../../../src/index.ts';
import { base, capabilityOf, firstOf, parsed, SILENT, shown } from './texts.ts';

/** What is wrong with a call that was found, beside the one that was meant. */
function otherThanMeant(answer: Ok<'parse_tool_call'>, meant: CallText): Finding | undefined {
  if (answer.name !== undefined && meant.name !== undefined && answer.name !== meant.name)
    return {
      kind: 'name',
      sentence: `The call of "${meant.name}" in ${shown(meant.text)} is read as one of "${answer.name}".`,
    };
  if (answer.arguments === undefined || meant.arguments === undefined) return undefined;
  const [got, wanted] = [canonical(answer.arguments), canonical(meant.arguments)];
  return got === wanted
    ? undefined
    : {
        kind: 'arguments',
        sentence: `The arguments ${meant.arguments} in ${shown(meant.text)} are read as ${answer.arguments}.`,
      };
}

/** An argument that the tool would be run with, and that is of another type than it takes. What is no number is none in JSON. */
function ofAnotherType(
  world: World,
  { name, arguments: json }: Ok<'parse_tool_call'>,
  { kind, text }: CallText,
) {
  const tool = capabilityOf(world, 'parse_tool_call')?.tool_specs?.find((each) => each.name === name);
  const read = parseStrict(json ?? '');
  if (
    kind === 'number beyond all' ||
    tool === undefined ||
    'complaint' in read ||
    typeof read.ok !== 'object'
  )
    return undefined;
  const given = read.ok as Readonly<Record<string, unknown>> | null;
  const wrong = Object.entries(tool.parameters).find(([key, type]) => typeof given?.[key] !== type);
  return wrong === undefined
    ? undefined
    : {
        kind: 'type',
        sentence: `The arguments of ${shown(text)} are taken as ${json}, where "${wrong[0]}" is no ${wrong[1]}. Answer "bad_arguments", or what it is converted to.`,
      };
}

/** JSON with the keys of objects in order; text that is no JSON stays as it is. */
function canonical(json: string): string {
  const read = parseStrict(json);
  if ('complaint' in read) return json;
  return JSON.stringify(read.ok, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

const listed = (statuses: readonly string[]): string => statuses.map((status) => `"${status}"`).join(' or ');

/** A status that no parser gives a text of this kind. */
export function otherStatus(drawn: CallText, status: string): Finding | undefined {
  const accepted: readonly string[] = callStatuses(drawn.kind);
  return accepted.includes(status)
    ? undefined
    : {
        kind: drawn.kind,
        sentence: `The text ${shown(drawn.text)} (${drawn.kind}) has the status "${status}", expected ${listed(accepted)}.`,
      };
}

export const MISTAKES: readonly CallKind[] = [
  'no call',
  'not json',
  'unknown tool',
  'missing argument',
  'argument of a wrong type',
  'argument of another type',
  'number beyond all',
  'further argument',
  'no arguments',
  'arguments elsewhere',
  'arguments are no object',
  'cut',
  'unclosed',
  'repairable',
  'json but no call',
];
export const parserProperties: readonly Property<CallTexts>[] = [
  {
    ...base('parse_tool_call', ['call']),
    level: 'must',
    id: 'tools/well-formed-calls-are-parsed',
    title: 'A well-formed call is found, with its name and its arguments',
    why: 'A call that is right and not understood is punished, and the policy learns to call no tool.',
    catches: [],
    coverage: { 'several lines': 0.15 },
    check: (subject, given) =>
      firstOf(given, async (drawn) => {
        const answer = await parsed(subject, drawn.text);
        if (answer === undefined) return SILENT;
        if (answer.status !== 'call')
          return {
            kind: 'not found',
            sentence: `The well-formed call in ${shown(drawn.text)} has the status "${answer.status}", expected "call".`,
          };
        return otherThanMeant(answer, drawn);
      }),
  },
  {
    ...base('parse_tool_call', MISTAKES),
    level: 'must',
    id: 'tools/each-mistake-has-its-own-status',
    title:
      'A text without a call, bad JSON, an unknown tool, wrong arguments and a cut call have different statuses',
    why: 'One status for all of them cannot be answered, punished or counted by what went wrong; as a call, it runs.',
    catches: [],
    check: (subject, given) =>
      firstOf(given, async (drawn) => {
        const answer = await parsed(subject, drawn.text);
        if (answer === undefined) return SILENT;
        const other = otherStatus(drawn, answer.status);
        if (other !== undefined) return other;
        return answer.status === 'call'
          ? (otherThanMeant(answer, drawn) ?? ofAnotherType(subject, answer, drawn))
          : undefined;
      }),
  },
  {
    // Those that are well-formed, too: where they raise, no other property has an answer to judge.
    ...base('parse_tool_call'),
    level: 'must',
    id: 'tools/no-text-raises',
    title: 'Every text has one of the six statuses; none raises',
    why: 'One text that raises ends the step of a whole batch, and a policy in training writes all texts sooner or later.',
    catches: [],
    coverage: { 'any text': 0.1, 'json but no call': 0.1 },
    check: (subject, given) =>
      firstOf(given, async ({ text }) => {
        const outcome = await subject.attempt('parse_tool_call', { text });
        if ('refused' in outcome)
          return {
            kind: 'raises',
            sentence: `The text ${shown(text)} has no status: ${outcome.refused}. Catch it, and answer a status.`,
          };
        return CALL_STATUSES.some((status) => status === outcome.ok.status)
          ? undefined
          : {
              kind: 'status',
              sentence: `The text ${shown(text)} has the status "${outcome.ok.status}", expected ${listed(CALL_STATUSES)}.`,
            };
      }),
  },
];
