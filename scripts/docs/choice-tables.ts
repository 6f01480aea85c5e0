// Copies of the table of legal choices: the one in PROTOCOL.md, and what a saved event may hold of them.
import { SEMANTICS_RULE } from '../../src/protocol/hello.ts';
import { CHOICES, choiceNames } from '../../src/vocabulary/choices.ts';

/** PROTOCOL.md with a row per choice. */
export function withChoices(page: string): string {
  const rows = choiceNames.map((name) => `| ${`\`${name}\``.padEnd(NAME)} | ${CHOICES[name].says} |\n`);
  return page.replace(/(?<=^## Semantics\n\n\| key .*\n\|[- |]*\|\n)(?:\|.*\n)+/m, () => rows.join(''));
}

/** What most names fit into. */
const NAME = 26;

/** docs/events.schema.json with the schema of each choice, laid out as our formatter does. */
export function withChoiceSchema(page: string): string {
  const { properties } = SEMANTICS_RULE.schema;
  return page.replace(/(?<=^ {4}"semantics": \{\n(?: {6}.*\n)*? {6}"properties": )\{\n[\s\S]*?^ {6}\}/m, () =>
    laidOut(properties, ' '.repeat(6)),
  );
}

function laidOut(value: unknown, margin: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // An event has text in place of what JSON has no number for.
  if ('type' in value && value.type === 'number') return laidOut({ $ref: '#/$defs/number' }, margin);
  const inner = `${margin}  `;
  if (!Array.isArray(value)) {
    const entries = Object.entries(value).map(([key, each]) => `${inner}"${key}": ${laidOut(each, inner)}`);
    return `{\n${entries.join(',\n')}\n${margin}}`;
  }
  const items = value.map((each) => laidOut(each, inner));
  const line = `[${items.join(', ')}]`;
  return line.includes('\n') || margin.length + line.length > MOST
    ? `[\n${items.map((item) => inner + item).join(',\n')}\n${margin}]`
    : line;
}

/** A line of our formatter, less a key. */
const MOST = 100;
