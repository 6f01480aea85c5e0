// What the properties of tool calls share: the texts that a trainer is asked about, and its answers to them.
import {
  type CallKind,
  type CallText,
  type CallTexts,
  callLabels,
  callTexts,
  DEFAULT_TAGS,
  discard,
  type Finding,
  type Need,
  type Ok,
  type Subject,
  type Tags,
  type World,
} from '../../../src/index.ts';

type ToolOp = 'parse_tool_call' | 'tool_step';

export const capabilityOf = (world: World, op: ToolOp) => world.hello.ops[op];
export const tagsOf = (world: World, op: ToolOp): Tags => ({
  ...DEFAULT_TAGS,
  ...capabilityOf(world, op)?.tags,
});

export const hasTools =
  (op: ToolOp): Need =>
  (world) =>
    (capabilityOf(world, op)?.tool_specs?.length ?? 0) > 0
      ? undefined
      : `op \`${op}\` declares no tool_specs: see its capability`;

const given = (op: ToolOp, kinds?: readonly CallKind[]) => (world: World) =>
  callTexts(capabilityOf(world, op)?.tool_specs ?? [], tagsOf(world, op), kinds);

/** A text of which a check has nothing to say. */
export const SILENT = 'silent';

/** The first text that something is wrong with. All of them are asked at once. */
export async function firstOf(
  { texts }: CallTexts,
  wrong: (drawn: CallText) => Promise<Finding | typeof SILENT | undefined>,
): Promise<Finding | undefined> {
  const found = await Promise.all(texts.map(wrong));
  if (found.every((each) => each === SILENT))
    return discard('no text got an answer that could be judged', 'trainer');
  return found.find((each): each is Finding => each !== undefined && each !== SILENT);
}

export const base = (op: ToolOp, kinds?: readonly CallKind[]) =>
  ({
    stage: 'tools',
    ops: [op],
    needs: [hasTools(op)],
    given: given(op, kinds),
    labels: callLabels,
  }) as const;

export const shown = (text: string): string =>
  text.length <= SHOWN
    ? JSON.stringify(text)
    : `${JSON.stringify(text.slice(0, SHOWN))}... (${text.length} characters)`;
const SHOWN = 240;

/** What raises is one property's business; to the others it is no answer. */
export async function parsed(subject: Subject, text: string): Promise<Ok<'parse_tool_call'> | undefined> {
  const outcome = await subject.attempt('parse_tool_call', { text });
  return 'ok' in outcome ? outcome.ok : undefined;
}
export async function stepped(
  subject: Pick<Subject, 'attempt'>,
  text: string,
): Promise<Ok<'tool_step'> | undefined> {
  const outcome = await subject.attempt('tool_step', { text });
  return 'ok' in outcome ? outcome.ok : undefined;
}
