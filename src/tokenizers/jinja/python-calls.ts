// Calls in a template that the JavaScript engine answers otherwise than Python: string stripping (it ignores the
// argument of strip('\n') and takes another set of characters for white space), and raise_exception, whose error it
// does not tell apart from its own. A parsed template is rewritten so that these calls come here instead.

/** A template's refusal of a conversation. */
export class Refusal extends Error {}

/** Redirects .strip(), .lstrip(), .rstrip(), |trim and raise_exception() in a parsed template; changes it in place. */
export function usePythonCalls(node: unknown): void {
  if (Array.isArray(node)) {
    for (const child of node) usePythonCalls(child);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  for (const child of Object.values(node)) usePythonCalls(child);
  redirectMethod(node as Node);
  redirectFilter(node as Node);
  redirectRaise(node as Node);
}

/** To be passed into every rendering, under names that no template can spell. */
export const pythonCalls: Readonly<Record<string, unknown>> = {
  'python strip': (text: unknown, set?: unknown) => strip(needText(text), set, true, true),
  'python lstrip': (text: unknown, set?: unknown) => strip(needText(text), set, true, false),
  'python rstrip': (text: unknown, set?: unknown) => strip(needText(text), set, false, true),
  // The filter turns what is no text into text first, and undefined into nothing.
  'python trim': (value: unknown, set?: unknown) => strip(softText(value), set, true, true),
  'python raise': (reason: unknown) => {
    throw new Refusal(String(reason));
  },
};

// --- helpers ---

interface Node {
  type?: unknown;
  value?: unknown;
  callee?: Node;
  object?: Node;
  property?: Node;
  computed?: unknown;
  args?: unknown[];
  operand?: Node;
  filter?: Node;
}

const METHODS = ['strip', 'lstrip', 'rstrip'];
// str.isspace() of Python 3: unlike \s it has U+001C to U+001F and U+0085, and lacks U+FEFF.
const WHITE_SPACE = new Set(
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);

function redirectMethod(node: Node): void {
  const callee = node.callee;
  if (node.type !== 'CallExpression' || callee?.type !== 'MemberExpression' || callee.computed === true)
    return;
  const name = callee.property?.value;
  if (typeof name !== 'string' || !METHODS.includes(name)) return;
  node.args = [callee.object, ...(node.args ?? [])];
  node.callee = { type: 'Identifier', value: `python ${name}` };
}

function redirectFilter(node: Node): void {
  if (node.type !== 'FilterExpression') return;
  const call = node.filter?.type === 'CallExpression' ? node.filter : undefined;
  const name = call === undefined ? node.filter : call.callee;
  if (name?.value !== 'trim') return;
  node.args = [node.operand, ...(call?.args ?? [])];
  node.type = 'CallExpression';
  node.callee = { type: 'Identifier', value: 'python trim' };
}

function redirectRaise(node: Node): void {
  if (node.type !== 'CallExpression' || node.callee?.value !== 'raise_exception') return;
  node.callee = { type: 'Identifier', value: 'python raise' };
}

export function strip(text: string, set: unknown, left: boolean, right: boolean): string {
  const drop = typeof set === 'string' ? new Set(set) : WHITE_SPACE;
  const characters = [...text];
  let start = 0;
  let end = characters.length;
  while (left && start < end && drop.has(characters[start] ?? '')) start++;
  while (right && end > start && drop.has(characters[end - 1] ?? '')) end--;
  return characters.slice(start, end).join('');
}

function needText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new Error('strip() was called on a value that is not text');
}

function softText(value: unknown): string {
  if (value === undefined) return '';
  if (value === null) return 'None';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new Error('trim was applied to a value that is not text');
}
