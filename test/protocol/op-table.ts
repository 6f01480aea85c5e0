// The field table of an op in PROTOCOL.md, as OPS says it must read.
import { type FieldSpecs, OPS, type Op } from '../../src/protocol/message.ts';

export function opTable(op: Op): string {
  const rows = [
    ['given', fields(OPS[op].args)],
    ['answers', fields(OPS[op].ok)],
  ];
  const width = Math.max(...rows.map(([, text]) => text?.length ?? 0));
  const line = (left: string, right: string) => `| ${left.padEnd(7)} | ${right.padEnd(width)} |`;
  return [
    line('', ''),
    `| ------- | ${'-'.repeat(width)} |`,
    ...rows.map(([left, right]) => line(left ?? '', right ?? '')),
  ].join('\n');
}

function fields(specs: FieldSpecs): string {
  return Object.entries(specs)
    .map(([name, spec]) => (spec.endsWith('?') ? `\`${name}?\` ${spec.slice(0, -1)}` : `\`${name}\` ${spec}`))
    .join(', ');
}
