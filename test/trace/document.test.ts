// The section "Trace" of PROTOCOL.md is executed: its lines are read as a trace, and its table names each kind and field.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readTrace } from '../../src/trace/records/read.ts';

const section =
  readFileSync(new URL('../../PROTOCOL.md', import.meta.url), 'utf8').split('\n## Trace\n')[1] ?? '';
const lines = /```jsonl\n([\s\S]*?)```/.exec(section)?.[1]?.trim().split('\n') ?? [];

test('the lines that PROTOCOL.md shows are a whole trace', () => {
  const { records, complaints, torn } = readTrace(lines.join('\n'), 'PROTOCOL.md');
  expect(complaints).toEqual([]);
  expect(torn).toBe(false);
  expect(records.length).toBe(lines.length);
});

test.each(lines)('its table names every field of %s', (line) => {
  const { kind, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const row = section.split('\n').find((each) => each.startsWith(`| \`${String(kind)}\``));
  expect(row, `a row for ${String(kind)}`).toBeDefined();
  for (const field of Object.keys(fields)) expect(row).toContain(`\`${field}\``);
});
