// How a trainer calls its chat template, where that differs from the plain call: with variables of the template's own
// (`enable_thinking`), or with a system message where the conversation has none. Both are legal, and both would make every
// rendering another one than the harness's. A plain call measures nothing.
import { calledWith } from '../../../tokenizers/call.ts';
import { renderChat, templateTokens } from '../../../tokenizers/template.ts';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import type { Message, Semantics, TemplateArguments } from '../../../vocabulary.ts';
import { asksOnce } from '../../needs.ts';
import type { Subject, World } from '../../property.ts';
import { discard } from '../../subject.ts';
import type { Misfit, Probe, Variant } from '../probe.ts';

type Chat = readonly Message[];

/** What the trainer made of a conversation: text, or ids as text. */
interface Seen {
  readonly where: string;
  /** Without the answer and with the generation prompt; or all of it. */
  readonly prompt: boolean;
  readonly text: string;
  /** It was ids. */
  readonly decoded: boolean;
}

export const chatRendering: Probe<Chat> = {
  id: 'chat',
  items: ['template_arguments', 'default_system'],
  ops: ['render', 'tokenize', 'rollout'],
  anyOp: true,
  lack: (world) => {
    if (world.tokenizer?.chatTemplate === undefined) return 'no chat template is known';
    return offered(world) === undefined ? 'no op that renders a conversation is offered' : undefined;
  },
  variants: waysOf,
  cases: (world) => [
    CHATS.plain,
    CHATS.system,
    ...(asksOnce(world, 'render', 'tokenize', 'rollout') ? [] : [CHATS.history]),
  ],
  async fits(subject, chat, variants) {
    const seen = await seenOf(subject, chat);
    return variants.map(({ items }) => seen.map((each) => misfit(subject, chat, each, items)).find(Boolean));
  },
};

/**
 * Variables that switch something in the templates of released models, and what they may be: Qwen3 and GLM, DeepSeek and
 * Granite, gpt-oss, GLM and Qwen3 once more, Llama 3. One at a time: whoever sets several declares them.
 */
const SWITCHES: Readonly<Record<string, readonly (string | boolean)[]>> = {
  enable_thinking: [false, true],
  thinking: [true, false],
  reasoning_effort: ['low', 'medium', 'high'],
  preserve_thinking: [true, false],
  clear_thinking: [false, true],
  keep_past_thinking: [true, false],
  tools_in_user_message: [false, true],
};

const question: Message = { role: 'user', content: 'Name a colour.' };
const answer: Message = { role: 'assistant', content: 'Green' };
/** Each ends with an answer. */
const CHATS = {
  plain: [question, answer],
  system: [{ role: 'system', content: 'Be brief.' }, question, answer],
  history: [
    question,
    answer,
    { role: 'user', content: 'Name another one.' },
    { role: 'assistant', content: 'Red' },
  ],
} as const satisfies Readonly<Record<string, Chat>>;

/** The plain way, and those that fit what is made of a plain conversation; none where nothing does. */
async function waysOf(subject: Subject): Promise<readonly Variant[]> {
  const seen = await seenOf(subject, CHATS.plain);
  const fits = (items: Semantics): boolean =>
    seen.every((each) => misfit(subject, CHATS.plain, each, items) === undefined);
  const plain = { name: 'the template as it is', items: {} };
  if (fits(plain.items)) return [plain];
  const { template_arguments: declared, default_system: system } = subject.semantics;
  const calls = [{}, ...(declared === undefined ? [] : [declared]), ...switchesOf(subject.tokenizer)];
  return calls.flatMap((template_arguments: TemplateArguments): Variant[] => {
    const [first] = seen;
    const inserted =
      first === undefined ? undefined : systemIn(subject, CHATS.plain, first, template_arguments);
    const systems = [undefined, ...new Set([system, inserted])].filter(
      (each, at) => at === 0 || each !== undefined,
    );
    return systems.flatMap((default_system) => {
      const items: Semantics = {
        ...(Object.keys(template_arguments).length === 0 ? {} : { template_arguments }),
        ...(default_system === undefined ? {} : { default_system }),
      };
      return fits(items) ? [{ name: `the template with ${JSON.stringify(items)}`, items }] : [];
    });
  });
}

function switchesOf(tokenizer: Tokenizer | undefined): TemplateArguments[] {
  const template = tokenizer?.chatTemplate ?? '';
  return Object.entries(SWITCHES).flatMap(([name, values]) =>
    new RegExp(`\\b${name}\\b`).test(template) ? values.map((value) => ({ [name]: value })) : [],
  );
}

/** What the template writes, as the semantics have it called; undefined where it refuses. */
function written(world: World, chat: Chat, prompt: boolean, items: Semantics): string | undefined {
  const { tokenizer } = world;
  if (tokenizer?.chatTemplate === undefined) return undefined;
  const result = renderChat(tokenizer.chatTemplate, {
    messages: calledWith(prompt ? chat.slice(0, -1) : chat, items),
    addGenerationPrompt: prompt,
    ...templateTokens(tokenizer),
    ...(items.template_arguments === undefined ? {} : { extra: items.template_arguments }),
  });
  return 'text' in result ? result.text : undefined;
}

function misfit(world: World, chat: Chat, seen: Seen, items: Semantics): Misfit | undefined {
  const text = written(world, chat, seen.prompt, items);
  if (text === undefined) return { where: `${seen.where}, which the template refuses`, ...OFF };
  const bare = seenAs(world, seen, text);
  // A row may end with a stop token more, or without the line end.
  const fits = seen.prompt ? seen.text === bare : seen.text.startsWith(bare.trimEnd());
  return fits ? undefined : { where: `the text of ${seen.where}`, ...OFF };
}

/** Texts are equal or not. */
const OFF = { expected: 1, observed: 0, off: 2 } as const;

/** The trainer's own system message: what stands where one would stand. */
function systemIn(
  world: World,
  chat: Chat,
  seen: Seen,
  template_arguments: TemplateArguments,
): string | undefined {
  const marked = written(world, chat, seen.prompt, { template_arguments, default_system: MARK });
  const [before, behind, ...more] = marked === undefined ? [] : seenAs(world, seen, marked).split(MARK);
  if (before === undefined || behind === undefined || more.length > 0) return undefined;
  const end = seen.prompt ? seen.text.length - behind.length : seen.text.lastIndexOf(behind.trimEnd());
  const found = seen.text.slice(before.length, end);
  return seen.text.startsWith(before) && end > before.length && !isMarked(world, found) ? found : undefined;
}

/** No template and no tokenizer has a word for it. */
const MARK = 'SYSTEM MESSAGE OF THE TRAINER';

/** A system message is words; marks of turns and a BOS among them are a fault of the rendering. */
function isMarked({ tokenizer }: World, text: string): boolean {
  return tokenizer === undefined || tokenizer.encode(text).some((id) => tokenizer.specialIds.has(id));
}

/** Without the BOS that a template may write and a tokenizer may put in front. */
function plainOf({ tokenizer }: World, text: string): string {
  const bos = tokenizer?.bosTokenId === undefined ? undefined : tokenizer.token(tokenizer.bosTokenId);
  return bos !== undefined && text.startsWith(bos) ? text.slice(bos.length) : text;
}

/** A text as it is seen: a tokenizer need not give back what it was given. */
function seenAs(world: World, { decoded }: Seen, text: string): string {
  const { tokenizer } = world;
  return plainOf(world, decoded && tokenizer !== undefined ? tokenizer.decode(tokenizer.encode(text)) : text);
}

type Route = 'sft' | 'rl';

/** The op that shows most of it: text before ids, and prompts before rows. */
function offered({
  hello,
  tokenizer,
}: World): readonly (readonly ['render' | 'tokenize', Route] | 'rollout')[] | undefined {
  const routes = (op: 'render' | 'tokenize') =>
    hello.ops[op] === undefined
      ? []
      : (['rl', 'sft'] as const)
          .filter((route) => (hello.ops[op]?.route ?? ['sft', 'rl']).includes(route))
          .map((route) => [op, route] as const);
  const rendered = routes('render');
  const found = [
    ...rendered,
    ...(rendered.length > 0 || tokenizer === undefined ? [] : routes('tokenize')),
    ...(hello.ops.rollout !== undefined && hello.tokens !== undefined ? (['rollout'] as const) : []),
  ];
  return found.length === 0 ? undefined : found;
}

async function seenOf(subject: Subject, chat: Chat): Promise<readonly Seen[]> {
  const { tokenizer } = subject;
  if (tokenizer === undefined) return discard('no tokenizer is known');
  const seen: Seen[] = [];
  for (const each of offered(subject) ?? []) {
    if (each === 'rollout') {
      const stop = subject.hello.tokens?.eos_token_ids.slice(0, 1) ?? [];
      const asked = await subject.attempt('rollout', {
        conversations: [chat.slice(0, -1)],
        sampled_ids: [stop],
      });
      if ('ok' in asked)
        seen.push({
          where: 'a rollout',
          prompt: true,
          text: plainOf(subject, tokenizer.decode(asked.ok.prompt_ids[0] ?? [])),
          decoded: true,
        });
      continue;
    }
    const [op, route] = each;
    const prompt = route === 'rl';
    const request = { route, messages: prompt ? chat.slice(0, -1) : chat, add_generation_prompt: prompt };
    const asked = await subject.attempt(op, request);
    if (!('ok' in asked)) continue;
    const decoded = !('text' in asked.ok);
    const text = 'text' in asked.ok ? asked.ok.text : tokenizer.decode(asked.ok.input_ids);
    seen.push({ where: `${op} on route ${route}`, prompt, text: plainOf(subject, text), decoded });
  }
  return seen.length > 0 ? seen : discard('no conversation was rendered');
}
