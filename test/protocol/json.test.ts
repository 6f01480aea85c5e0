import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePython } from '../../src/outside/json.ts';
import { parseTolerant } from '../../src/outside/tolerant.ts';
import { encodeArgs, floatText, parseAnswer, TOKEN_ROW, type Wire } from '../../src/protocol/json.ts';

const WIRE: Wire = { layoutOf: () => TOKEN_ROW, base64: false, floats: 'float32' };

describe('reading', () => {
  test('bare NaN and Infinity are numbers, in strings they are letters', () => {
    expect(parseAnswer('{"a": [NaN, Infinity, -Infinity, -0.0], "NaN": "NaN, Infinity"}')).toEqual({
      ok: { a: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0], NaN: 'NaN, Infinity' },
    });
  });

  test('the tolerant parser agrees with JSON.parse on all JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseTolerant(text)).toEqual({ ok: JSON.parse(text) });
      }),
    );
  });

  test('a text that JSON.parse refuses is refused, unless Python words make it legal', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (text, at, character) => {
        const broken = text.slice(0, at % text.length) + character + text.slice((at % text.length) + 1);
        const parsed = parseTolerant(broken);
        let strict: unknown;
        try {
          strict = { ok: JSON.parse(broken) };
        } catch {
          strict = undefined;
        }
        if (strict === undefined) expect(parsed).toHaveProperty('complaint');
        else expect(parsed).toEqual(strict);
      }),
    );
  });

  test.each([
    ['{"a": [1, 2,, 3]}', 'at character 13 found ",", expected a value'],
    ['{"a": NaNa}', 'at character 10 found "a", expected "," or "}"'],
    ['{"a": 1', 'at character 8 the line ends, expected "," or "}"'],
    ["{'a': 1}", 'at character 2 found "\'", expected a key in double quotes'],
    ['[01]', 'at character 3 found "1", expected "," or "]"'],
    ['', 'at character 1 the line ends, expected a value'],
    ['NaN NaN', 'at character 5 found "N", expected the end of the line'],
  ])('%s: the complaint says where', (line, complaint) => {
    expect(parseAnswer(line)).toEqual({ complaint });
  });

  test.each([
    [`{"id":1,"ok":[${'[],'.repeat(300_000)}[]]}`, 'more than 262,144 lists and objects'],
    [`{"id":1,"ok":{${'"a":1,'.repeat(140_000)}"b":1}}`, 'more than 131,072 keys'],
    [`{"id":1,"ok":[[${'1,'.repeat(270_000)}1]]}`, 'more than 262,144 values per list'],
    [`{"id":1,"ok":[${`[${'1,'.repeat(200_000)}1],`.repeat(21)}[]]}`, 'more than 4,194,304 values'],
  ])('an answer has lower limits than a file (%#)', (line, complaint) => {
    expect(parseAnswer(line)).toEqual({ complaint });
    expect(parsePython(line)).toHaveProperty('ok');
  });

  test('a key "__proto__" is a key', () => {
    const parsed = parseTolerant('{"__proto__": NaN}');
    expect('ok' in parsed && Object.keys(parsed.ok as object)).toEqual(['__proto__']);
  });

  test('endless nesting is a complaint, not a stack overflow', () => {
    expect(parseTolerant('['.repeat(100_000))).toEqual({ complaint: 'nested deeper than 200 levels' });
  });
});

describe('writing', () => {
  test('float fields stay floats, int fields stay ints', () => {
    expect(encodeArgs('advantages', { rewards: [1, -0, 0.5, Number.NaN], group_ids: [0, 1] }, WIRE)).toBe(
      '{"rewards":[1.0,-0.0,0.5,NaN],"group_ids":[0,1]}',
    );
  });

  test('optional arguments that are absent are not written', () => {
    const kl = { logprobs: [[1]], old_logprobs: [[1]], ref_logprobs: [[1]], completion_mask: [[1]] };
    expect(encodeArgs('kl', { ...kl, prompt_width: 0 }, WIRE)).toBe(
      '{"logprobs":[[1.0]],"old_logprobs":[[1.0]],"ref_logprobs":[[1.0]],"completion_mask":[[1]],"prompt_width":0}',
    );
  });

  test('rewards of segments are floats too', () => {
    const segments = [{ prompt_ids: [1], completion_ids: [2], reward: 1 }];
    expect(encodeArgs('contract', { order: ['a'], segments, enabled: [] }, WIRE)).toBe(
      '{"order":["a"],"segments":[{"prompt_ids":[1],"completion_ids":[2],"reward":1.0}],"enabled":[]}',
    );
  });

  test('every double comes back bit for bit', () => {
    fc.assert(
      fc.property(fc.double(), (x) => {
        const parsed = parseAnswer(`[${floatText(x)}]`);
        expect(parsed).toEqual({ ok: [x] });
      }),
    );
  });

  test('Python reads every float as a float of the same value', () => {
    const xs = [0, -0, 1, -1, 1e20, 1e21, 1e300, 5e-324, 0.1, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY];
    const program =
      'import json,sys; xs=json.loads(sys.stdin.read()); assert all(type(x) is float for x in xs), xs; print(json.dumps(xs))';
    const input = `[${xs.map(floatText).join(',')}]`;
    expect(parseAnswer(execFileSync('python3', ['-c', program], { input, encoding: 'utf8' }))).toEqual({
      ok: xs,
    });
  });

  test('large numeric fields go as tensors when the trainer asks for base64, small ones as lists', () => {
    const wire: Wire = { ...WIRE, base64: true };
    const small = encodeArgs('advantages', { rewards: [1], group_ids: [0] }, wire);
    expect(small).toBe('{"rewards":[1.0],"group_ids":[0]}');
    const rewards = Array.from({ length: 512 }, (_, i) => i / 4);
    const large = JSON.parse(encodeArgs('advantages', { rewards, group_ids: [0] }, wire));
    expect(large.rewards).toMatchObject({ dtype: 'float32', shape: [512] });
  });
});
