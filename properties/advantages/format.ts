// Scores of a completion's form: think, tool call, tool response, think, ..., answer. Where line ends stand, and whether
// the first tag stands in the prompt, is the trainer's choice: a form that it likes in one known style counts.
import {
  DEFAULT_TAGS,
  degenerate,
  discard,
  type Finding,
  flawedText,
  oddText,
  type Property,
  relations,
  STYLES,
  type Style,
  type Subject,
  show,
  type Tags,
  type ToolSpec,
  type Transcript,
  transcript,
  transcriptLabels,
  USUAL_STYLE,
  type World,
  wholeText,
} from '../../src/index.ts';

const tagsOf = (world: World): Tags => ({ ...DEFAULT_TAGS, ...world.hello.ops.format_score?.tags });
const toolsOf = ({ hello: { ops } }: World): readonly ToolSpec[] =>
  ops.parse_tool_call?.tool_specs ?? ops.tool_step?.tool_specs ?? [];

/** A form without tools is legal: turns are sent only where the trainer has something to do with them. */
const withTools = ({ hello: { ops } }: World): boolean =>
  ops.parse_tool_call !== undefined ||
  ops.tool_step !== undefined ||
  ops.format_score?.tags?.tool_call !== undefined;

interface Formatted extends Transcript {
  /** Nothing, or one thing repeated. */
  readonly noise: string;
}

const given = (world: World) =>
  transcript({ withTools: withTools(world) }).chain((drawn) =>
    degenerate(
      [],
      Object.values(tagsOf(world)).flatMap((tag) => [`<${tag}>`, `</${tag}>`]),
    ).map((noise): Formatted => ({ ...drawn, noise })),
  );

const base = {
  stage: 'reward',
  ops: ['format_score'],
  given,
  labels: transcriptLabels,
  coverage: (world: World) => (withTools(world) ? { 'several tool turns': 0.15, 'no tool turn': 0.05 } : {}),
} as const;

interface Scores {
  readonly style: Style;
  /** Without tags, whole without tools, whole, flawed, noise. */
  readonly bare: number;
  readonly short: number;
  readonly whole: number;
  readonly flawed: number;
  readonly noise: number;
}

/** The scores in each style in which the trainer likes a completion without tools better than bare text. */
async function liked(subject: Subject, drawn: Formatted): Promise<Scores[]> {
  const [tags, tools] = [tagsOf(subject), toolsOf(subject)];
  const texts = STYLES.flatMap((style) => [
    flawedText({ ...drawn, flaw: 'no tags' }, tags, style, tools),
    wholeText({ ...drawn, turns: 0 }, tags, style, tools),
    wholeText(drawn, tags, style, tools),
    flawedText(drawn, tags, style, tools),
    drawn.noise,
  ]);
  const { scores } = await subject.ask('format_score', { completions: texts });
  return STYLES.map((style, at) => {
    const [bare = 0, short = 0, whole = 0, flawed = 0, noise = 0] = scores.slice(5 * at, 5 * at + 5);
    return { style, bare, short, whole, flawed, noise };
  }).filter(({ bare, short }) => short > bare);
}

const textOf = (subject: Subject, drawn: Formatted, style: Style): string =>
  JSON.stringify(wholeText(drawn, tagsOf(subject), style, toolsOf(subject)));

export const formatProperties: readonly Property<Formatted>[] = [
  {
    ...base,
    level: 'must',
    id: 'reward/format-takes-any-number-of-turns',
    title: 'A well-formed completion scores above the same words without tags, with any number of tool turns',
    why: 'A pattern for one turn gives a policy that uses tools the reward of garbage, and it stops using them.',
    catches: [],
    async check(subject, drawn): Promise<Finding | undefined> {
      const styles = await liked(subject, drawn);
      const [first] = styles;
      if (first === undefined)
        return {
          kind: 'no form',
          sentence: `A thought and an answer in tags, ${textOf(subject, { ...drawn, turns: 0 }, USUAL_STYLE)}, score no more than the same words without tags.`,
        };
      if (styles.some(({ bare, whole }) => whole > bare)) return undefined;
      return {
        kind: 'turns',
        sentence: `A well-formed completion with ${drawn.turns} tool turns scores ${show(first.whole)}, no more than its words without tags (${show(first.bare)}); without a tool turn it scores ${show(first.short)}. It reads ${textOf(subject, drawn, first.style)}.`,
      };
    },
  },
  {
    ...base,
    level: 'should',
    id: 'reward/format-tells-broken-text-apart',
    title: 'A completion with a block missing, unclosed or out of order scores below the whole one',
    why: 'A form that is rewarded when it is broken is not learned, and what parses the answer finds none.',
    catches: [],
    async check(subject, drawn) {
      const styles = (await liked(subject, drawn)).filter(({ bare, whole }) => whole > bare);
      const [first] = styles;
      if (first === undefined) return discard('the whole completion is not liked either', 'trainer');
      if (styles.some(({ flawed, whole }) => flawed < whole)) return undefined;
      return {
        kind: 'broken',
        sentence: `A completion with the flaw "${drawn.flaw}" scores ${show(first.flawed)}, the whole one ${show(first.whole)}: ${textOf(subject, drawn, first.style)}.`,
      };
    },
  },
  {
    ...base,
    level: 'must',
    id: 'reward/format-likes-no-degenerate-text',
    title: 'Nothing, or one thing repeated, scores below a well-formed completion',
    why: 'A count of tags is cheapest to raise by writing nothing but tags.',
    catches: [],
    async check(subject, drawn) {
      const styles = await liked(subject, drawn);
      const [first] = styles;
      if (first === undefined) return discard('a whole completion is not liked either', 'trainer');
      if (styles.some(({ noise, short }) => noise < short)) return undefined;
      return {
        kind: 'degenerate',
        sentence: `The text ${JSON.stringify(drawn.noise.slice(0, SHOWN))} (${drawn.noise.length} characters) scores ${show(first.noise)}, a well-formed completion ${show(first.short)}.`,
      };
    },
  },
  ...relations<'format_score', Formatted>({
    op: 'format_score',
    stage: 'reward',
    prefix: 'reward/format-',
    noun: 'The format score',
    given,
    args: (drawn, world) => {
      const [tags, tools, style] = [tagsOf(world), toolsOf(world), USUAL_STYLE];
      const texts = [
        wholeText(drawn, tags, style, tools),
        drawn.noise,
        flawedText(drawn, tags, style, tools),
        oddText(drawn, tags, style, tools),
      ];
      return { completions: texts };
    },
    labels: transcriptLabels,
    allBut: [],
  }),
];

const SHOWN = 48;
