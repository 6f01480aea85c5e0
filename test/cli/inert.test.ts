// Text of others on a terminal and in the log of a CI job: shown, and not obeyed.
import { describe, expect, test } from 'vitest';
import { inert } from '../../src/cli/inert.ts';
import { liveBlock } from '../../src/cli/live-block.ts';
import { ERASE_LINE } from '../../src/report/terminal.ts';
import { COLOURED } from '../../src/report/text/paint.ts';

const TERMINAL = { isTty: true };
const LOG = { isTty: false };

describe('what would act on a terminal is an escape', () => {
  test.each([
    ['the clipboard', 'a\u001b]52;c;aGk=\u0007b', 'a\\x1b]52;c;aGk=\\x07b'],
    ['an erased screen', 'a\u001b[2Jb', 'a\\x1b[2Jb'],
    ['a hidden text', '\u001b[8mhidden\u001b[0m', '\\x1b[8mhidden\\x1b[0m'],
    ['a title', '\u001b]0;pwned\u0007', '\\x1b]0;pwned\\x07'],
    ['a control sequence of eight bits', 'a\u009b2Jb', 'a\\x9b2Jb'],
    ['a line written over', 'fails\rholds', 'fails\\x0dholds'],
    ['the lines above', 'a\n\u001b[5A\r\u001b[J', 'a\n\\x1b[5A\\x0d\\x1b[J'],
    ['steps back', 'a\b\bb\u007f', 'a\\x08\\x08b\\x7f'],
    ['the direction of reading', 'a\u202eb', 'a\\u{202e}b'],
  ])('%s', (_, text, shown) => {
    expect(inert(text, TERMINAL)).toBe(shown);
    expect(inert(text, LOG)).toBe(shown);
  });

  test('our own colours, live line and live block pass', () => {
    const colours = Object.values(COLOURED).map((brush) => brush('text'));
    expect(inert(colours.join('\n'), TERMINAL)).toBe(colours.join('\n'));
    expect(inert(`${ERASE_LINE}line`, TERMINAL)).toBe(`${ERASE_LINE}line`);
    const written: string[] = [];
    const block = liveBlock({ write: (text) => void written.push(text), isTty: true, columns: 80 });
    block.draw(['a', 'b']);
    block.draw(['c']);
    expect(written.map((text) => inert(text, TERMINAL))).toEqual(written);
  });

  test('moves are ours only at the beginning, and only on a terminal', () => {
    expect(inert(`a${ERASE_LINE}`, TERMINAL)).toBe('a\\x0d\\x1b[K');
    expect(inert(ERASE_LINE, LOG)).toBe('\\x0d\\x1b[K');
  });
});

describe('orders to a CI job are none', () => {
  test.each([
    ['an annotation', '::error::pwned', '\\x3a:error::pwned'],
    ['behind white space', 'line\n \t ::stop-commands::x', 'line\n \t \\x3a:stop-commands::x'],
    ['the older form, anywhere', 'a ##[add-mask]b', 'a \\x23#[add-mask]b'],
    ['of Azure', '##vso[task.complete result=Succeeded;]', '\\x23#vso[task.complete result=Succeeded;]'],
    ['behind an empty line', '\n\n::debug::x', '\n\n\\x3a:debug::x'],
  ])('%s', (_, text, shown) => expect(inert(text, LOG)).toBe(shown));

  test('what is none stays', () => {
    for (const text of ['a ::b', 'x[::2]', '## heading [1]', '#[1]']) expect(inert(text, LOG)).toBe(text);
  });
});
