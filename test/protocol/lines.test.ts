import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Line, lineSplitter } from '../../src/protocol/lines.ts';

function split(bytes: Buffer, cuts: readonly number[], most?: number): { lines: Line[]; rest: string } {
  const splitter = lineSplitter(most);
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const lines = at.slice(1).flatMap((end, i) => [...splitter.push(bytes.subarray(at[i], end))]);
  return { lines, rest: splitter.rest() };
}

const cuts = fc.array(fc.nat(), { maxLength: 6 });

describe('lines', () => {
  test('any text comes out line by line however the stream is cut', () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ''));
    fc.assert(
      fc.property(fc.array(line), line, cuts, (whole, rest, where) => {
        const bytes = Buffer.from([...whole, rest].join('\n'));
        expect(split(bytes, where)).toEqual({ lines: whole, rest });
      }),
    );
  });

  test('CRLF ends a line as LF does', () => {
    fc.assert(
      fc.property(cuts, (where) => {
        expect(split(Buffer.from('é\r\n{}\r\n\n'), where)).toEqual({ lines: ['é', '{}', ''], rest: '' });
      }),
    );
  });

  test('a line that is not UTF-8 is reported in its place, the others are untouched', () => {
    fc.assert(
      fc.property(cuts, (where) => {
        const bytes = Buffer.concat([Buffer.from('a\n'), Buffer.from([0x62, 0xe9]), Buffer.from('\nc\n')]);
        expect(split(bytes, where)).toEqual({
          lines: ['a', { fault: 'not UTF-8', start: 'b\ufffd', bytes: 2 }, 'c'],
          rest: '',
        });
      }),
    );
  });

  test('a line that is too long is reported once, and the stream goes on behind it', () => {
    fc.assert(
      fc.property(cuts, (where) => {
        const { lines, rest } = split(Buffer.from('ab\n123456789012345\ncd\nef'), where, 8);
        expect(lines.map((line) => (typeof line === 'string' ? line : line.fault))).toEqual([
          'ab',
          'too long',
          'cd',
        ]);
        expect(rest).toBe('ef');
      }),
    );
  });
});
