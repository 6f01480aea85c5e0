// Golden cases of rewards, tool calls and pipelines of several losses: texts in, scores and decisions out.
import type { World } from '../../check/property.ts';
import type { Capability, TagName } from '../../protocol/message.ts';
import type { ToolSpec } from '../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../case.ts';
import { idsOf } from '../ids.ts';

const rewarded: readonly GoldenCase[] = [
  goldenCase('reward/right-and-wrong', 'reward', (world) => {
    const { samples = [] } = world.hello.ops.reward ?? {};
    if (samples.length === 0) return 'op `reward` declares no samples';
    const rows = samples.flatMap(({ prompt, reference, right, wrong }) =>
      [right, wrong].map((completion) => ({ prompt, reference, completion })),
    );
    return rewardArgs(world, rows);
  }),
  goldenCase('reward/no-answer', 'reward', (world) => {
    const [sample] = world.hello.ops.reward?.samples ?? [];
    if (sample === undefined) return 'op `reward` declares no samples';
    const { prompt, reference } = sample;
    return rewardArgs(
      world,
      ['', 'I do not know.', '!!!!'].map((completion) => ({ prompt, reference, completion })),
    );
  }),
  goldenCase('reward/twins', 'reward', (world) => {
    const [sample] = world.hello.ops.reward?.samples ?? [];
    if (sample === undefined) return 'op `reward` declares no samples';
    const { prompt, reference, right } = sample;
    return rewardArgs(
      world,
      [right, right].map((completion) => ({ prompt, reference, completion })),
    );
  }),
  goldenCase('overlong_penalty/no-buffer', 'overlong_penalty', () => ({
    lengths: [3, 8, 9],
    max_length: 8,
    buffer: 0,
  })),
  goldenCase('overlong_penalty/none-beyond-the-limit', 'overlong_penalty', () => ({
    lengths: [3, 5],
    max_length: 8,
    buffer: 4,
  })),
  goldenCase('overlong_penalty/around-the-limit', 'overlong_penalty', () => ({
    lengths: [0, 4, 5, 7, 8, 9, 20],
    max_length: 8,
    buffer: 4,
  })),
  goldenCase('overlong_penalty/another-limit', 'overlong_penalty', () => ({
    lengths: [9, 10, 11],
    max_length: 10,
    buffer: 2,
  })),
];

interface Graded {
  readonly prompt: string;
  readonly reference: string;
  readonly completion: string;
}

function rewardArgs(world: World, rows: readonly Graded[]) {
  const { plain } = idsOf(world);
  return {
    prompts: rows.map(({ prompt }) => prompt),
    completions: rows.map(({ completion }) => completion),
    references: rows.map(({ reference }) => reference),
    // Tokens of the text where they are known, otherwise so many ids.
    completion_ids: rows.map(
      ({ completion }, at) => world.tokenizer?.encode(completion) ?? plain(...Array(at + 1).keys()),
    ),
  };
}

const tagOf = ({ tags }: Capability, name: TagName): string => tags?.[name] ?? name;

function block(has: Capability, name: TagName, text: string): string {
  const tag = tagOf(has, name);
  return `<${tag}>\n${text}\n</${tag}>`;
}

const formats: readonly GoldenCase[] = [
  goldenCase('format_score/well-formed', 'format_score', ({ hello }) => {
    const has = hello.ops.format_score ?? {};
    return { completions: [`${block(has, 'think', '2 + 3 is 5')}\n${block(has, 'answer', '5')}`] };
  }),
  goldenCase('format_score/out-of-form', 'format_score', ({ hello }) => {
    const has = hello.ops.format_score ?? {};
    const [think, answer] = [block(has, 'think', 'so'), block(has, 'answer', '5')];
    return { completions: ['5', think, `${answer}\n${think}`, `${think}\n${answer}\n!!!`, ''] };
  }),
];

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

function toolCases(op: ToolOp): GoldenCase[] {
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

const segment = (world: World, at: number, reward: number) => {
  const { plain, stop } = idsOf(world);
  return {
    prompt_ids: plain(at, at + 1),
    completion_ids: [...plain(at + 2), ...plain(at + 3).slice(0, at % 2), stop(0)],
    reward,
  };
};

type Segments = (world: World) => readonly ReturnType<typeof segment>[];
const TWO: Segments = (world) => [segment(world, 0, 1), segment(world, 5, -0.5)];

function contractCase(name: string, losses: 'all' | 'first', segments = TWO): GoldenCase {
  return goldenCase(`contract/${name}`, 'contract', (world) => {
    const { orders = [], losses: known = [] } = world.hello.ops.contract ?? {};
    const order = losses === 'all' ? orders[0] : orders.at(-1);
    if (order === undefined || known.length === 0) return 'op `contract` declares no orders or no losses';
    return {
      order,
      segments: segments(world),
      enabled: losses === 'all' ? known : known.slice(0, 1),
    };
  });
}

const MODES = ['parallel', 'sequential', 'alternating'] as const;

const pipelines: readonly GoldenCase[] = [
  contractCase('every-loss', 'all'),
  contractCase('one-loss-in-another-order', 'first'),
  contractCase('one-segment', 'all', (world) => [segment(world, 1, 1)]),
  contractCase('equal-rewards', 'all', (world) => [segment(world, 0, 1), segment(world, 5, 1)]),
  contractCase('no-segments', 'all', () => []),
  ...MODES.map((mode) =>
    goldenCase(`schedule/${mode}`, 'schedule', ({ hello }) => {
      const { modes = [], losses = [] } = hello.ops.schedule ?? {};
      if (losses.length === 0 || !modes.includes(mode)) return `op \`schedule\` has no mode ${mode}`;
      // Every second loss is due at every second iteration.
      const frequencies = Object.fromEntries(losses.map((loss, at) => [loss, 1 + (at % 2)]));
      return { mode, iterations: 4, frequencies, enabled: losses, optional: [] };
    }),
  ),
  goldenCase('schedule/one-loss', 'schedule', ({ hello }) => {
    const { modes = [], losses = [] } = hello.ops.schedule ?? {};
    const [mode] = modes;
    if (mode === undefined || losses.length === 0) return 'op `schedule` declares no modes or no losses';
    const frequencies = Object.fromEntries(losses.map((loss) => [loss, 1]));
    return { mode, iterations: 2, frequencies, enabled: losses.slice(-1), optional: [] };
  }),
  goldenCase('schedule/switched-on-in-another-order', 'schedule', ({ hello }) => {
    const { modes = [], losses = [] } = hello.ops.schedule ?? {};
    if (losses.length < 2 || !modes.includes('sequential'))
      return 'op `schedule` has no two losses in mode sequential';
    const enabled = losses.toReversed();
    const frequencies = Object.fromEntries(enabled.map((loss) => [loss, 1]));
    return { mode: 'sequential', iterations: 2, frequencies, enabled, optional: [] };
  }),
  goldenCase('schedule/optional-trainers', 'schedule', ({ hello }) => {
    const { modes = [], losses = [], optional_trainers = {} } = hello.ops.schedule ?? {};
    const [mode] = modes;
    const optional = [...new Set(Object.values(optional_trainers))];
    if (mode === undefined || losses.length === 0 || optional.length === 0)
      return 'op `schedule` declares no optional trainers';
    const frequencies = Object.fromEntries(losses.map((loss) => [loss, 1]));
    return { mode, iterations: 2, frequencies, enabled: losses, optional };
  }),
  goldenCase('segments/rows', 'segment_rows', (world) => ({
    segments: [segment(world, 0, 1), segment(world, 5, -0.5), segment(world, 5, -0.5)],
  })),
  goldenCase('segments/one-row', 'segment_rows', (world) => ({ segments: [segment(world, 2, 0.25)] })),
  goldenCase('segments/unroll', 'unroll', () => unrolled([0, 1])),
  goldenCase('segments/unroll-behind-the-end', 'unroll', () => unrolled([2, 0])),
];

const unrolled = (starts: readonly number[]) => ({
  observations: [
    [3, 4, 5, 6],
    [7, 8, 9],
  ],
  actions: [
    [11, 12, 13],
    [14, 15],
  ],
  rewards: [
    [0.25, 0.5, 1],
    [-0.5, 0.75],
  ],
  starts,
  unroll_steps: 2,
});

export const agentCases: readonly GoldenCase[] = [
  ...rewarded,
  ...formats,
  ...toolCases('parse_tool_call'),
  ...toolCases('tool_step'),
  ...pipelines,
];
