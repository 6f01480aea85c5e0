// A JSON value as a Python literal, to paste in a REPL: every value of a case has one.

export function pythonLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'number') return numberLiteral(value);
  if (typeof value === 'string') return stringLiteral(value);
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${entries.map(([key, item]) => `${stringLiteral(key)}: ${pythonLiteral(item)}`).join(', ')}}`;
}

function numberLiteral(value: number): string {
  if (Number.isNaN(value)) return "float('nan')";
  if (!Number.isFinite(value)) return value > 0 ? "float('inf')" : "-float('inf')";
  return Object.is(value, -0) ? '-0.0' : String(value);
}

function stringLiteral(text: string): string {
  let escaped = '';
  for (const character of text) escaped += ESCAPES[character] ?? escapeOf(character);
  return `'${escaped}'`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  ' ': ' ',
};

/** What cannot be seen or typed, lone surrogates included, which Python's strings may hold. */
function escapeOf(character: string): string {
  if (!/[\p{C}\p{Z}]/u.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
