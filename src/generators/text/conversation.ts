// Conversations: an optional system message, then user and assistant in turn. Nothing but Message values: how they
// are rendered is the template's business.
import fc from 'fast-check';
import type { Message } from '../../vocabulary.ts';
import { rarely, timesOver } from '../rarely.ts';
import { constant, plainContent, textLabels } from './text.ts';

/** Which conversations a trainer takes. */
export interface Taken {
  /** Of one question alone. */
  readonly once?: boolean;
  /** With a system message, as half of them begin with otherwise: its chat template refuses one. */
  readonly rarelySystem?: boolean;
  /** With what tools answered. */
  readonly tools?: boolean;
}

export interface ConversationOptions extends Pick<Taken, 'rarelySystem' | 'tools'> {
  /** Whether it may begin with a system message; half of them then do. Default: true. */
  readonly system?: boolean;
  /** User turns; where there may be several, a few conversations have three times as many. Default: 1 to 3. */
  readonly turns?: { readonly min: number; readonly max: number };
  /** `user`: a prompt to be answered, which may be what a tool answered. `assistant`: a training example. */
  readonly endsWith: 'user' | 'assistant';
  /** Default: plainContent. */
  readonly content?: fc.Arbitrary<string>;
}

/** An arbitrary conversation whose last message is from the user or from the assistant. */
export function conversation(options: ConversationOptions): fc.Arbitrary<Message[]> {
  const content = options.content ?? plainContent();
  const { min, max } = options.turns ?? DEFAULT_TURNS;
  const exchange = fc.record({ user: content, assistant: content });
  const rare = fc.tuple(rarely(SYSTEM_ONE_IN), content).map(([is, text]) => (is ? text : null));
  const often = options.rarelySystem ? rare : fc.option(content, { freq: 2 });
  const system = options.system === false ? fc.constant(null) : often;
  // `size: 'max'` spreads the number of turns evenly; by default nearly all would have the least.
  const exchanges = fc.array(exchange, { minLength: min, maxLength: max, size: 'max' });
  const many = max > 1 ? rarely(MANY_ONE_IN) : fc.constant(false);
  const spoken = fc.record({ system, exchanges, echo: rarely(ECHO_ONE_IN), many }).map((made) => {
    const all = made.many ? timesOver(made.exchanges, MANY) : made.exchanges;
    const turns = all.flatMap(({ user, assistant }): Message[] => [
      { role: 'user', content: user },
      { role: 'assistant', content: made.echo ? user : assistant },
    ]);
    if (options.endsWith === 'user') turns.pop();
    return made.system === null ? turns : [{ role: 'system' as const, content: made.system }, ...turns];
  });
  if (options.tools !== true) return spoken;
  const withTools = toolConversation().map((all) => (options.endsWith === 'user' ? all.slice(0, -1) : all));
  return fc.oneof({ arbitrary: spoken, weight: TOOLS_ONE_IN - 1 }, { arbitrary: withTools, weight: 1 });
}

const by = (role: Message['role'], content: fc.Arbitrary<string>): fc.Arbitrary<Message> =>
  content.map((text) => ({ role, content: text }));

/** A question, calls with their results, an answer; sometimes a second question with its answer. */
export function toolConversation(): fc.Arbitrary<Message[]> {
  const content = plainContent();
  const written = fc.oneof({ arbitrary: content, weight: 2 }, { arbitrary: constant(JSONS), weight: 1 });
  const call = fc.record({
    call: by('assistant', written),
    results: fc.array(by('tool', written), { minLength: 1, maxLength: MAX_RESULTS, size: 'max' }),
  });
  const more = fc.tuple(by('user', content), by('assistant', content));
  return fc
    .record({
      system: fc.option(by('system', content), { freq: 2 }),
      question: by('user', content),
      calls: fc.array(call, { minLength: 1, maxLength: MAX_CALLS, size: 'max' }),
      answer: by('assistant', content),
      more: fc.option(more, { freq: 2 }),
      many: rarely(MANY_CALLS_ONE_IN),
    })
    .map((made) => [
      ...(made.system === null ? [] : [made.system]),
      made.question,
      ...timesOver(made.calls, made.many ? MANY_CALLS : 1).flatMap(({ call: said, results }) => [
        said,
        ...results,
      ]),
      made.answer,
      ...(made.more ?? []),
    ]);
}

/** What a conversation exercises, of its shape and of all its contents. */
export function conversationLabels(messages: readonly Message[]): string[] {
  const users = messages.filter((message) => message.role === 'user').length;
  const shape = [
    ...(messages[0]?.role === 'system' ? ['system message'] : []),
    users > 1 ? 'several turns' : 'one turn',
    ...(messages.some(({ role }) => role === 'tool') ? ['tool results'] : []),
    ...(users > DEFAULT_TURNS.max ? ['many turns'] : []),
    ...(messages.some(
      ({ role, content }, at) => role === 'assistant' && content === messages[at - 1]?.content,
    )
      ? ['answer repeats its question']
      : []),
  ];
  return [...new Set([...shape, ...messages.flatMap((message) => textLabels(message.content))])];
}

// --- helpers ---

/** A trainer may take what its template refuses, and leave it out. */
const SYSTEM_ONE_IN = 16;
/** Three turns show what one does to the next. */
const DEFAULT_TURNS = { min: 1, max: 3 };
/** One conversation in so many has its turns so many times over: a history that is kept to its last five shows on no short one. */
const MANY_ONE_IN = 16;
const MANY = 3;
/** Where tools are sent, one conversation in so many has some. */
const TOOLS_ONE_IN = 4;
/** Calls before an answer, and results of one call. */
const MAX_CALLS = 2;
const MAX_RESULTS = 3;
/** One dialogue in so many has its calls so many times over, as an agent that goes on. */
const MANY_CALLS_ONE_IN = 8;
const MANY_CALLS = 4;
/** As somebody's own writer left them: whoever reads them and writes them again has others. */
const JSONS = [
  '{"a":1}',
  '{"b": 2, "a": 1.0}',
  '[1,2,{"c":null}]',
  '{"text": "caf\\u00e9"}',
  '{"text":"é"}',
  '{\n    "ok": true\n}',
  '1e3',
  '"a"',
  "{'a': None}",
  '{"name":"search","arguments":{"query":"a"}}',
];
/** In one of so many every answer repeats its question, which stands first where an answer is looked for by its text. */
const ECHO_ONE_IN = 8;
