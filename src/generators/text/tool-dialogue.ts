// Conversations that are no plain question and answer: with tools, whose results may come several at once, and those
// that data sets hold all the same, which begin with an answer, ask twice, or end with a result.
import fc from 'fast-check';
import type { Message } from '../../vocabulary.ts';
import { conversation, conversationLabels, toolConversation } from './conversation.ts';
import type { Dialogue } from './dialogue.ts';
import { plainContent, reasoned } from './text.ts';

/** A dialogue with calls of tools and their results. */
export const toolDialogue = (): fc.Arbitrary<Dialogue> =>
  toolConversation().map((messages) => ({ messages, template: null }));

/** What a dialogue with tool results exercises. */
export function toolDialogueLabels({ messages }: Dialogue): string[] {
  const tool = (at: number): boolean => messages[at]?.role === 'tool';
  return [
    ...conversationLabels(messages),
    ...(messages.some((_, at) => tool(at) && tool(at + 1)) ? ['results in a row'] : []),
    ...(messages.filter((_, at) => tool(at) && !tool(at + 1)).length > 1 ? ['several calls'] : []),
    ...(messages.some(({ content }, at) => tool(at) && content === '') ? ['empty result'] : []),
    ...(messages.some(({ content }, at) => tool(at) && /^[[{]/.test(content)) ? ['result in JSON'] : []),
  ];
}

/** The last answer follows at least one earlier answer; thoughts in both more often than not elsewhere. */
export function longDialogue(): fc.Arbitrary<Dialogue> {
  const content = fc.oneof({ arbitrary: plainContent(), weight: 2 }, { arbitrary: reasoned(), weight: 1 });
  return conversation({ endsWith: 'assistant', system: true, turns: { min: 2, max: 3 }, content }).map(
    (messages) => ({ messages, template: null }),
  );
}

type Shape = readonly Message['role'][];

const SHAPES: readonly Shape[] = [
  ['user', 'user', 'assistant'],
  ['assistant', 'user', 'assistant'],
  ['user', 'assistant', 'assistant'],
  ['user', 'assistant', 'user'],
  ['assistant'],
  ['user', 'assistant', 'user', 'user', 'assistant'],
  ['user', 'assistant', 'system', 'user', 'assistant'],
];
const TOOL_SHAPES: readonly Shape[] = [
  ['user', 'assistant', 'tool'],
  ['user', 'assistant', 'tool', 'tool', 'user', 'assistant'],
];

/** Conversations that do not alternate. `tools`: some have results of tools. */
export function irregularDialogue(options: { readonly tools: boolean }): fc.Arbitrary<Dialogue> {
  const content = plainContent();
  return fc
    .record({
      system: fc.option(content, { freq: 2 }),
      shape: fc.constantFrom(...SHAPES, ...(options.tools ? TOOL_SHAPES : [])),
      contents: fc.array(content, { minLength: 6, maxLength: 6 }),
    })
    .map(({ system, shape, contents }) => ({
      messages: [
        ...(system === null ? [] : [{ role: 'system', content: system } as const]),
        ...shape.map((role, at): Message => ({ role, content: contents[at] ?? '' })),
      ],
      template: null,
    }));
}

/** Which irregular turns a dialogue has. */
export function irregularLabels({ messages }: Dialogue): string[] {
  const roles = messages.map(({ role }) => role).filter((role) => role !== 'system');
  const twice = (role: Message['role']): boolean =>
    roles.some((each, at) => each === role && roles[at + 1] === role);
  const labels: readonly (readonly [string, boolean])[] = [
    ['begins with an answer', roles[0] === 'assistant'],
    ['two questions in a row', twice('user')],
    ['two answers in a row', twice('assistant')],
    ['ends without an answer', roles.at(-1) !== 'assistant'],
    ['tool output', roles.includes('tool')],
    ['system message within', messages.slice(1).some(({ role }) => role === 'system')],
  ];
  return labels.filter(([, holds]) => holds).map(([label]) => label);
}
