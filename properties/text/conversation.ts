// Shared by the stages in which a conversation is still text: the case, and what the tokenizer's own chat template
// makes of it. A template may legally drop or rewrite earlier turns; then it is the template that breaks a prefix,
// not the trainer, and the case says nothing.
import {
  calledWith,
  type Dialogue,
  dialogue,
  discard,
  type Ids,
  type Message,
  type Need,
  namedTokens,
  type Rendered,
  type Route,
  renderChat,
  sameIds,
  type Tokenizer,
  takenBy,
  type World,
} from '../../src/index.ts';

/** Dialogues for this op of the trainer. */
export const dialogues =
  (op: 'render' | 'tokenize') =>
  (world: World): ReturnType<typeof dialogue> => {
    const { render, tokenize } = world.hello.ops;
    return dialogue({
      templates: tokenize?.chat_template === true || render?.chat_template === true,
      ...takenBy(world, op),
      // Properties of their own send them.
      tools: false,
    });
  };

/** The part before the last answer: what a policy is prompted with. */
export const promptOf = (messages: readonly Message[]): readonly Message[] => messages.slice(0, -1);

/** The routes that this trainer's op serves. */
export const routesOf = (world: World, op: 'render' | 'tokenize'): readonly Route[] =>
  world.hello.ops[op]?.route ?? ['sft', 'rl'];

/** The argument only where a template is sent along. */
export const templateArg = (drawn: Dialogue): { chat_template?: string } =>
  drawn.template === null ? {} : { chat_template: drawn.template };

/** The text that the template makes, or undefined where none is known; a template that refuses the dialogue ends the case. */
export function rendered(
  world: World,
  drawn: Dialogue,
  messages: readonly Message[],
  addGenerationPrompt: boolean,
): string | undefined {
  const result = renderedBy(world, drawn.template, messages, addGenerationPrompt);
  if (result === undefined || 'text' in result) return result?.text;
  return discard(`the template refuses the conversation: ${result.problem}`, 'trainer');
}

/** As the trainer calls the template, which is the tokenizer's own where null is given. */
export function renderedBy(
  world: World,
  sent: string | null,
  messages: readonly Message[],
  addGenerationPrompt: boolean,
): Rendered | undefined {
  const template = sent ?? world.tokenizer?.chatTemplate;
  if (template === undefined) return undefined;
  const { template_arguments: extra } = world.semantics;
  return renderChat(template, {
    messages: calledWith(messages, world.semantics),
    addGenerationPrompt,
    ...(extra === undefined ? {} : { extra }),
    ...namedTokens(world.tokenizer),
  });
}

/**
 * Ids that end an answer: the declared ones. Where none are, the tokenizer's eos, if the chat template writes it behind
 * an answer; a tokenizer's own eos need not be what ends a turn (Gemma, Phi), and then none is known.
 */
export function stopIds(world: World): Ids | undefined {
  if (world.hello.tokens !== undefined) return world.hello.tokens.eos_token_ids;
  const { tokenizer } = world;
  // Another template may end its turns otherwise.
  if (tokenizer?.chatTemplate === undefined || world.hello.ops.tokenize?.chat_template === true)
    return undefined;
  const known = TURN_ENDS.get(tokenizer);
  if (known !== undefined) return known.ids;
  const ids = turnEnd(tokenizer, tokenizer.chatTemplate);
  TURN_ENDS.set(tokenizer, { ids });
  return ids;
}

/** Rendered once for each tokenizer. */
const TURN_ENDS = new WeakMap<Tokenizer, { readonly ids: Ids | undefined }>();
const ANSWER = 'a';

function turnEnd(tokenizer: Tokenizer, template: string): Ids | undefined {
  const { eosTokenId: eos } = tokenizer;
  const named = namedTokens(tokenizer);
  if (eos === undefined || named.eosToken === undefined) return undefined;
  const result = renderChat(template, {
    messages: [
      { role: 'user', content: ANSWER },
      { role: 'assistant', content: ANSWER },
    ],
    addGenerationPrompt: false,
    ...named,
  });
  if (!('text' in result)) return undefined;
  const behind = tokenizer.encode(result.text.slice(result.text.lastIndexOf(ANSWER) + ANSWER.length));
  return behind.find((id) => tokenizer.specialIds.has(id)) === eos ? [eos] : undefined;
}

/** The stop tokens of an answer must be known. */
export const knownStops: Need = (world) =>
  stopIds(world) === undefined
    ? 'it is not known which ids end a turn: declare them (hello.tokens), or a tokenizer whose chat template ends an answer with its eos'
    : undefined;

/**
 * What stands in `row` before an answer to `messages`. An adapter that hands on no generation prompt answers `prompt`
 * without the header, which is then no part of the answer: it is the template's.
 */
export function promptBefore(
  world: World,
  drawn: Dialogue,
  messages: readonly Message[],
  { prompt, row }: { readonly prompt: Ids; readonly row: Ids },
): Ids {
  const { tokenizer } = world;
  const bare = messages.length === 0 ? '' : rendered(world, drawn, messages, false);
  const headed = rendered(world, drawn, messages, true);
  if (tokenizer === undefined || bare === undefined || headed === undefined) return prompt;
  if (!headed.startsWith(bare)) return prompt;
  // By itself: an adapter may tokenise piece by piece, and its prompt be other ids than the template's.
  const header = tokenizer.encode(headed.slice(bare.length));
  const isAt = (ids: Ids, column: number): boolean => header.every((id, at) => ids[column + at] === id);
  const isWithout =
    header.length > 0 && !isAt(prompt, prompt.length - header.length) && isAt(row, prompt.length);
  return isWithout ? [...prompt, ...header] : prompt;
}

/** Ids that end a row: the declared ones, and the tokenizer's own eos. */
export function endingIds({ hello, tokenizer }: World): ReadonlySet<number> {
  const eos = tokenizer?.eosTokenId;
  return new Set([...(hello.tokens?.eos_token_ids ?? []), ...(eos === undefined ? [] : [eos])]);
}

/**
 * The stop token with this id as text, where a trainer may append it to `text`: not behind itself, nor behind
 * itself and the line end that many templates write there.
 */
export function appendable(world: World, text: string, id: number): string | undefined {
  const stop = world.tokenizer?.token(id);
  return stop === undefined || text.trimEnd().endsWith(stop) ? undefined : stop;
}

/** Ends the case where the template itself does not continue its own generation prompt. */
export function requirePrefixPreserving(world: World, drawn: Dialogue): void {
  if (world.tokenizer === undefined && /^\s/.test(drawn.messages.at(-1)?.content ?? ''))
    discard(
      'the answer begins with white space, which a tokenizer that is not known may merge with the header',
      'trainer',
    );
  const parts = whereItParts(world, drawn);
  if (parts === undefined) return;
  // Variables that were measured are no excuse: who sets them on purpose for prompts that no row begins with declares them.
  const { template_arguments: _, ...plain } = world.semantics;
  const excused =
    world.measured?.template_arguments === undefined
      ? parts
      : whereItParts({ ...world, semantics: plain }, drawn);
  if (excused !== undefined) discard(excused, 'trainer');
}

/** Why a row of the template does not begin with its prompt; undefined where it does. */
function whereItParts(world: World, drawn: Dialogue): string | undefined {
  const prompt = rendered(world, drawn, promptOf(drawn.messages), true);
  const whole = rendered(world, drawn, drawn.messages, false);
  if (prompt === undefined || whole === undefined) return undefined;
  if (!whole.startsWith(prompt)) return 'the template does not continue its own generation prompt';
  const { tokenizer } = world;
  if (tokenizer === undefined) return undefined;
  const [left, right] = [tokenizer.encode(prompt), tokenizer.encode(whole)];
  return left.every((id, at) => right[at] === id)
    ? undefined
    : 'the tokenizer merges across the end of the generation prompt';
}

/**
 * Whether the answer begins at this column of the whole row, although the prompt is not its beginning: a template
 * that opens a thought in its generation prompt, and no token across the place where the two part.
 */
export function answerBeginsAt(world: World, drawn: Dialogue, column: number): boolean {
  const prompt = rendered(world, drawn, promptOf(drawn.messages), true);
  const whole = rendered(world, drawn, drawn.messages, false);
  const { tokenizer } = world;
  if (prompt === undefined || whole === undefined || tokenizer === undefined || whole.startsWith(prompt))
    return false;
  let shared = 0;
  while (shared < prompt.length && prompt[shared] === whole[shared]) shared++;
  // They may part in a question that begins as the answer does, so the answer is tried behind another letter: only where that
  // letter shows up does the answer begin here.
  const last = drawn.messages.at(-1);
  if (last === undefined) return false;
  const answer = last.content ?? '';
  const letter = whole[shared] === 'x' ? 'y' : 'x';
  const lettered = [...drawn.messages.slice(0, -1), { ...last, content: `${letter}${answer}` }];
  if (!rendered(world, drawn, lettered, false)?.startsWith(`${whole.slice(0, shared)}${letter}`))
    return false;
  const before = tokenizer.encode(whole.slice(0, shared));
  return (
    whole.startsWith(answer, shared) &&
    before.length === column &&
    sameIds(before, tokenizer.encode(whole).slice(0, column))
  );
}
