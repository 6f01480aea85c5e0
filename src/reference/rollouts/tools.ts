// What a parser of tool calls must say of a text, by how the text was made. Where parsers differ in what they forgive,
// every status that one of them gives is listed.

export const CALL_STATUSES = [
  'call',
  'no_call',
  'bad_json',
  'unknown_tool',
  'bad_arguments',
  'truncated',
] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

/** `call` beside another: a parser may mend it, and then must find the call that was meant. */
const STATUSES: Readonly<Record<string, readonly CallStatus[]>> = {
  call: ['call'],
  'no call': ['no_call'],
  'not json': ['bad_json'],
  'unknown tool': ['unknown_tool'],
  'missing argument': ['bad_arguments'],
  'argument of a wrong type': ['bad_arguments'],
  // Where it is converted, `call`.
  'argument of another type': ['bad_arguments', 'call'],
  // JSON by its grammar, or to a reader that takes more; whether there is such a number is the reader's business.
  'number beyond all': ['call', 'bad_arguments', 'bad_json'],
  'further argument': ['call', 'bad_arguments'],
  'no arguments': ['bad_arguments', 'bad_json'],
  // By another name, or as text: some engines write them so.
  'arguments elsewhere': ['bad_arguments', 'bad_json', 'call'],
  'arguments are no object': ['bad_arguments'],
  cut: ['truncated'],
  // A stop string that is left out of the text takes the closing tag with it.
  unclosed: ['truncated', 'call'],
  repairable: ['bad_json', 'call'],
  // An object without a name, or a number, breaks several rules at once.
  'json but no call': ['bad_json', 'unknown_tool', 'bad_arguments'],
  deep: ['bad_json'],
  'any text': CALL_STATUSES,
};

/** The statuses that a parser may give a text that was made in this way; any for a way that is unknown. */
export function callStatuses(kind: string): readonly CallStatus[] {
  return STATUSES[kind] ?? CALL_STATUSES;
}
