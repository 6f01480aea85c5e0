// Copies of the protocol's table of ops: a table per op in PROTOCOL.md, and the SDK's table of arguments.
import { isOptional, kindOf } from '../../src/protocol/fields.ts';
import { type FieldSpecs, OPS, type Op } from '../../src/protocol/message.ts';
import { FAMILIES, familyNames } from '../../src/protocol/ops.ts';

const ops = Object.keys(OPS) as Op[];

/** PROTOCOL.md with the table of families and that of each op's fields as OPS has them. */
export function withOpTables(page: string): string {
  return page
    .replace(/^(\| family \| ops \|\n.*\n)(?:\|.*\n)+/m, `$1${familyRows()}`)
    .replaceAll(
      /^(### (\w+)\n(?:(?!###).*\n)*?)\| +\| +\|\n(?:\|.*\n)+/gm,
      (section: string, before: string, op: string) =>
        ops.some((name) => name === op) ? before + opTable(op as Op) : section,
    );
}

const familyRows = (): string =>
  familyNames
    .map((family) => {
      const names = Object.keys(FAMILIES[family]).map((op) => `[\`${op}\`](#${op})`);
      return `| ${family} | ${names.join(', ')} |\n`;
    })
    .join('');

function opTable(op: Op): string {
  const rows = [
    ['given', fieldsOf(OPS[op].args)],
    ['answers', fieldsOf(OPS[op].ok)],
  ] as const;
  const width = Math.max(...rows.map(([, text]) => text.length));
  const line = (left: string, right: string) => `| ${left.padEnd(7)} | ${right.padEnd(width)} |\n`;
  return [
    line('', ''),
    `| ------- | ${'-'.repeat(width)} |\n`,
    ...rows.map(([left, right]) => line(left, right)),
  ].join('');
}

const fieldsOf = (specs: FieldSpecs): string =>
  Object.entries(specs)
    .map(([name, spec]) => (isOptional(spec) ? `\`${name}?\` ${spec.slice(0, -1)}` : `\`${name}\` ${spec}`))
    .join(', ');

/** The SDK's _ops.py with the arguments of each op as OPS has them. */
export function withArguments(module: string): string {
  const table = ops.map((op) => entryOf(op, OPS[op].args)).join('');
  return module.replace(/^ARGS = \{\n[\s\S]*?^\}\n/m, () => `ARGS = {\n${table}}\n`);
}

/** As wide as a line of Python may be. */
const COLUMNS = 110;

function entryOf(op: Op, args: FieldSpecs): string {
  const items = Object.entries(args).map(
    ([name, spec]) => `"${name}": "${kindOf(spec)}${isOptional(spec) ? '?' : ''}"`,
  );
  const line = `    "${op}": {${items.join(', ')}},\n`;
  return line.length <= COLUMNS
    ? line
    : `    "${op}": {\n${items.map((item) => `        ${item},\n`).join('')}    },\n`;
}
