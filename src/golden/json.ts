// JSON for eyes and for line-by-line comparison: what fits on a line stands on one, lists of numbers always do.

/** Of a line of the file; longer ones are broken where they hold more than numbers. */
const WIDTH = 120;
const STEP = '  ';

/** Ends with a line break. Text outside ASCII stays as it is. */
export function prettyJson(value: unknown): string {
  return `${written(value, '', 0)}\n`;
}

/** `before`: characters that already stand on the line. */
function written(value: unknown, indent: string, before: number): string {
  const line = onOneLine(value);
  if (typeof value !== 'object' || value === null || isFlat(value)) return line;
  if (indent.length + before + line.length <= WIDTH && indent !== '') return line;
  const inner = indent + STEP;
  const parts = Array.isArray(value)
    ? value.map((each) => inner + written(each, inner, 0))
    : Object.entries(value).map(([key, each]) => {
        const name = `${JSON.stringify(key)}: `;
        return inner + name + written(each, inner, name.length);
      });
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return parts.length === 0 ? line : `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

function isFlat(value: object): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'number' || each === null);
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${onOneLine(each)}`);
  return parts.length === 0 ? '{}' : `{${parts.join(', ')}}`;
}
