// Golden cases of tool calls: texts in, parsed calls and observations out.
import type { ToolSpec } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { tagOf } from '../inputs/tags.ts';

type ToolOp = 'parse_tool_call' | 'tool_step';
const VALUES = { string: 'Rome', number: 2, boolean: true } as const;
/** The texts of one assistant turn, by what is wrong with its call. */
const CALLS: Readonly<
  Record<string, (call: (name: string, args: object) => string, tool: ToolSpec) => string>
> = {
  'a-call': (call, tool) => call(tool.name, argumentsOf(tool)),
  'a-call-over-lines': (call, tool) =>
    call(tool.name, argumentsOf(tool))
      .replace(/([{,])/g, '$1\n  ')
      .replace(/}/g, '\n}'),
  'a-brace-in-a-string': (call, tool) =>
    call(tool.name, argumentsOf(tool)).replace(JSON.stringify(VALUES.string), '"R}o{me"'),
  'no-call': () => 'It is 42.',
  'no-json': (call) => call('', {}).replace(/>.*</s, '>cats<'),
  'unknown-tool': (call) => call('no_such_tool', {}),
  'no-arguments': (call, tool) => call(tool.name, {}),
  'cut-off': (call, tool) => call(tool.name, argumentsOf(tool)).slice(0, -20),
};

function argumentsOf({ parameters }: ToolSpec): Readonly<Record<string, string | number | boolean>> {
  return Object.fromEntries(Object.entries(parameters).map(([name, kind]) => [name, VALUES[kind]]));
}

function casesOf(op: ToolOp): GoldenCase[] {
  return Object.entries(CALLS).map(([name, text]) =>
    goldenCase(`tools/${op === 'tool_step' ? 'step' : 'parse'}-${name}`, op, ({ hello }) => {
      const has = hello.ops[op] ?? {};
      const [tool] = has.tool_specs ?? [];
      if (tool === undefined) return `op \`${op}\` declares no tools`;
      const tag = tagOf(has, 'tool_call');
      const call = (called: string, args: object): string =>
        `<${tag}>${JSON.stringify({ name: called, arguments: args })}</${tag}>`;
      return { text: text(call, tool) };
    }),
  );
}

export const toolCases: readonly GoldenCase[] = [...casesOf('parse_tool_call'), ...casesOf('tool_step')];
