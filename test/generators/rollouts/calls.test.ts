import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CallText,
  callTexts,
  DEFAULT_TAGS,
  flawedText,
  STYLES,
  transcript,
  wholeText,
} from '../../../src/index.ts';

const TOOLS = [
  { name: 'now', parameters: {} },
  { name: 'add', parameters: { a: 'number', b: 'number' } },
  { name: 'add_b', parameters: { on: 'boolean', why: 'string' } },
] as const;
const within = /<tool_call>([\s\S]*)<\/tool_call>/;

const drawn: readonly CallText[] = fc
  .sample(callTexts(TOOLS, DEFAULT_TAGS), { seed: 1, numRuns: 500 })
  .flatMap(({ texts }) => texts);
const ofKind = (kind: CallText['kind']): CallText[] => drawn.filter((text) => text.kind === kind);
const inner = ({ text }: CallText): unknown => JSON.parse(within.exec(text)?.[1] ?? '');

describe('texts with calls', () => {
  it('are JSON with all arguments where they are well-formed', () => {
    const calls = ofKind('call');
    expect(calls.length).toBeGreaterThan(0);
    for (const call of calls)
      expect(inner(call)).toEqual({ name: call.name, arguments: JSON.parse(call.arguments ?? '') });
  });

  it('never call a tool that exists where the tool is unknown', () => {
    for (const text of ofKind('unknown tool'))
      expect(TOOLS.map(({ name }) => name)).not.toContain((inner(text) as { name: string }).name);
  });

  it('lack an argument, or have one of a wrong type, only where a tool has arguments', () => {
    for (const text of ofKind('missing argument')) {
      const { name, arguments: given } = inner(text) as { name: string; arguments: object };
      const owed = Object.keys(TOOLS.find((tool) => tool.name === name)?.parameters ?? {});
      expect(owed.filter((key) => !(key in given))).toHaveLength(1);
    }
  });

  it('have an argument of another type than it is owed, where that is what is wrong', () => {
    for (const text of ofKind('argument of another type')) {
      const { name, arguments: given } = inner(text) as { name: string; arguments: Record<string, unknown> };
      const owed: Record<string, string> = TOOLS.find((tool) => tool.name === name)?.parameters ?? {};
      expect(Object.keys(given).filter((key) => typeof given[key] !== owed[key])).toHaveLength(1);
    }
  });

  it('have a number that is none of float64 where it is beyond all', () => {
    for (const { text } of ofKind('number beyond all')) expect(text).toMatch(/: ?(?:-?1e999|NaN)/);
  });

  it('name tools that do not exist by parts of those that do', () => {
    const names = ofKind('unknown tool').map((text) => (inner(text) as { name: string }).name);
    expect(names.some((name) => TOOLS.some((tool) => tool.name.includes(name)))).toBe(true);
  });

  it.each(['not json', 'repairable'] as const)('are no JSON where they are %s', (kind) => {
    for (const text of ofKind(kind)) expect(() => inner(text)).toThrow();
  });

  it('end within the call where they are cut', () => {
    for (const { text } of ofKind('cut')) {
      expect(text).not.toContain('</tool_call>');
      expect(() => JSON.parse(text.split('<tool_call>')[1] ?? '')).toThrow();
    }
  });
});

describe('completions of blocks', () => {
  it('lose by their flaw what makes them whole', () => {
    for (const each of fc.sample(transcript({ withTools: true }), { seed: 1, numRuns: 200 })) {
      for (const style of STYLES) {
        const [whole, flawed] = [wholeText, flawedText].map((text) => text(each, DEFAULT_TAGS, style, TOOLS));
        expect(whole?.split('<tool_call>')).toHaveLength(each.turns + 1);
        expect(flawed).not.toBe(whole);
      }
    }
  });
});
