// PROTOCOL.md is normative, so it is executed: every JSON line decodes, every table reads as OPS says.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { decodeAnswer, decodeHello, requestComplaint } from '../../src/protocol/decode.ts';
import { OP_CAPABILITIES, SEMANTICS_KEYS } from '../../src/protocol/hello.ts';
import { isAnswerLine, parseAnswer, TOKEN_ROW } from '../../src/protocol/json.ts';
import { type Args, OPS, type Op } from '../../src/protocol/message.ts';
import { helloLine } from '../../src/protocol/request.ts';
import { opTable } from './op-table.ts';

const text = readFileSync(new URL('../../PROTOCOL.md', import.meta.url), 'utf8');
const ops = Object.keys(OPS) as Op[];
const lines = [...text.matchAll(/^```json\n([\s\S]*?)^```/gm)].flatMap((block) =>
  (block[1] ?? '').trim().split('\n'),
);
const messages = lines.map((line) => {
  const parsed = parseAnswer(line);
  if ('complaint' in parsed || !isAnswerLine(parsed.ok)) throw new Error(`no message: ${line}`);
  return parsed.ok as { id: number; op?: string; args?: unknown };
});
const requests = messages.filter((message) => message.op !== undefined);

describe('PROTOCOL.md', () => {
  test('has an example request and a good answer for every op', () => {
    const good = requests.filter((request) => messages.some((m) => m.id === request.id && 'ok' in m));
    expect(ops.filter((op) => !good.some((request) => request.op === op))).toEqual([]);
  });

  test.each(requests.filter((request) => request.op !== 'hello'))(
    'request $id ($op) is valid and so is its answer',
    ({ id, op, args }) => {
      expect(requestComplaint(op as Op, args)).toBeUndefined();
      const answer = messages.find((message) => message.id === id && message.op === undefined);
      expect(decodeAnswer(op as Op, answer, args as Args<Op>, TOKEN_ROW)).toMatchObject({ ok: { ok: {} } });
    },
  );

  test('the answers without a request are valid answers to any op', () => {
    const alone = messages.filter((m) => m.op === undefined && !requests.some((r) => r.id === m.id));
    expect(alone.map((m) => Object.keys(m)[1])).toEqual(['reject', 'skip', 'error']);
    for (const answer of alone) {
      expect(
        decodeAnswer('advantages', answer, { rewards: [], group_ids: [] }, TOKEN_ROW),
      ).not.toHaveProperty('complaint');
    }
  });

  test('the hello it shows is the one that is sent, and its answer is accepted', () => {
    const [request, answer] = messages.filter((message) => message.id === 1);
    expect(request).toEqual(JSON.parse(helloLine));
    expect(decodeHello((answer as { ok?: unknown }).ok)).not.toHaveProperty('complaint');
  });

  test.each(ops)('the table of %s is what OPS says', (op) => {
    const section = text.split(`\n### ${op}\n`)[1]?.split('\n### ')[0];
    expect(section).toContain(opTable(op));
  });

  test('lists every capability and every semantics key', () => {
    const names = [...new Set(Object.values(OP_CAPABILITIES).flat()), ...SEMANTICS_KEYS];
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});
