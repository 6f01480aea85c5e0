// PROTOCOL.md is normative, so it is executed: every JSON line decodes, every table reads as OPS says.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { withChoices } from '../../scripts/docs/choice-tables.ts';
import { withOpTables } from '../../scripts/docs/op-tables.ts';
import { decodeAnswer, decodeHello, requestComplaint } from '../../src/protocol/decode.ts';
import { dimensionsOf, type FieldSpecs } from '../../src/protocol/fields.ts';
import { OP_CAPABILITIES } from '../../src/protocol/hello.ts';
import { isAnswerLine, parseAnswer, TOKEN_ROW } from '../../src/protocol/json.ts';
import { type Args, OPS, type Op, type OpSpec } from '../../src/protocol/message.ts';
import { helloLine } from '../../src/protocol/request.ts';
import { choiceNames } from '../../src/vocabulary/choices.ts';

type Lists = Record<string, unknown[]>;

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

  test('a list that shares a dimension with another, and lost its last item, is refused', () => {
    let tried = 0;
    for (const { id, op, args } of requests.filter((request) => request.op !== 'hello')) {
      const { args: given, ok: answered }: OpSpec = OPS[op as Op];
      const { ok } = messages.find((m) => m.id === id && 'ok' in m) as unknown as { ok: Lists };
      const outers = (specs: FieldSpecs, sent: object): string[] =>
        Object.keys(sent).flatMap((name) => dimensionsOf(specs[name] ?? '').slice(0, 1));
      for (const [name, value] of Object.entries(ok)) {
        const [outer] = dimensionsOf(answered[name] ?? '');
        const { [name]: _, ...others } = ok;
        if (
          !Array.isArray(value) ||
          outer === undefined ||
          ![...outers(given, args as Lists), ...outers(answered, others)].includes(outer)
        )
          continue;
        const lost = { id, ok: { ...ok, [name]: value.slice(0, -1) } };
        expect(decodeAnswer(op as Op, lost, args as Args<Op>, TOKEN_ROW), `${op}, ${name}`).toHaveProperty(
          'complaint',
        );
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(60);
  });

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

  test('has a table of the fields of each op, as OPS says', () => {
    expect(text).toBe(withOpTables(text));
    expect(
      ops.filter((op) => !new RegExp(`^### ${op}\\n(?:(?!###).*\\n)*?\\| given `, 'm').test(text)),
    ).toEqual([]);
  });

  test('has a row for each legal choice, as its object says', () => {
    expect(text).toBe(withChoices(text));
    expect(choiceNames.filter((name) => !new RegExp(`^\\| \`${name}\` +\\| `, 'm').test(text))).toEqual([]);
  });

  test('lists every capability', () => {
    const names = [...new Set(Object.values(OP_CAPABILITIES).flat())];
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});
