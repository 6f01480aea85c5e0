// The marks of turns as a user declares them, for a tokenizer that has no chat template: they become one, so that rows are
// read, and a data set is rendered, as with any other. Without a tokenizer the marks are ids, and so is everything else.
import { isJsonObject } from '../../outside/decoded.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';

/** Ids or texts; text may be what special tokens and others make together. */
export type Mark = readonly (string | number)[];

export interface DeclaredMarks {
  /** By role: what opens a turn, and what closes it. */
  readonly turns: Readonly<Partial<Record<Role, readonly [open: Mark, close: Mark]>>>;
  readonly bos: Mark;
}

export type Role = (typeof ROLES)[number];

type Decoded = { readonly marks: DeclaredMarks } | { readonly problem: string };

/** `{"assistant": ["<|assistant_start|>", "<|assistant_end|>"], "user": [...], "bos": "<|bos|>"}`, or ids for the texts. */
export function decodeMarks(value: unknown): Decoded {
  if (!isJsonObject(value)) return { problem: `it is no object: ${SHAPE}` };
  const turns: Partial<Record<Role, readonly [Mark, Mark]>> = {};
  let bos: Mark = [];
  for (const [name, each] of Object.entries(value)) {
    if (name === 'bos') {
      const mark = markOf(each);
      if (mark === undefined) return { problem: 'bos is a text or an id' };
      bos = mark;
      continue;
    }
    const role = ROLES.find((known) => known === name);
    if (role === undefined)
      return { problem: `${JSON.stringify(name)} is no role: ${ROLES.join(', ')}, and bos, are known` };
    const [open, close, ...more] = Array.isArray(each) ? each.map(markOf) : [];
    if (open === undefined || close === undefined || more.length > 0)
      return {
        problem: `${name} needs two marks, what opens a turn and what closes it ([] where nothing closes it): ${SHAPE}, or as ids [[5], []]`,
      };
    turns[role] = [open, close];
  }
  if (turns.assistant === undefined) return { problem: `it says nothing of assistant: ${SHAPE}` };
  return { marks: { turns, bos } };
}

/** The tokenizer with a chat template of these marks; one that spells ids, where there is none. */
export function withMarks(
  tokenizer: Tokenizer | undefined,
  { turns, bos }: DeclaredMarks,
): { readonly tokenizer: Tokenizer } | { readonly problem: string } {
  const all = [...Object.values(turns).flat(2), ...bos];
  const texts = all.filter((each) => typeof each === 'string');
  if (tokenizer === undefined && texts.length > 0)
    return {
      problem: `no tokenizer is known that would tell the ids of ${texts.join(', ')}: name it with --tokenizer, or declare ids`,
    };
  const own = tokenizer ?? spelling(all.filter((each) => typeof each === 'number'));
  const unknown = all.find((each) => typeof each === 'number' && own.token(each) === undefined);
  if (unknown !== undefined) return { problem: `the tokenizer has no id ${unknown}` };
  const textOf = (mark: Mark): string =>
    mark.map((each) => (typeof each === 'number' ? (own.token(each) ?? '') : each)).join('');
  for (const [role, [open]] of Object.entries(turns)) {
    const first = own.encode(textOf(open))[0];
    const spelled = first === undefined ? '' : (own.token(first) ?? '');
    if (spelled === '' || !(own.specialIds.has(first ?? -1) || /^<[^\s<>]+>$/u.test(spelled)))
      return {
        problem: `what opens ${role} begins with no special token (${JSON.stringify(textOf(open))}): words alone could be anybody's`,
      };
  }
  const branches = Object.entries(turns).map(
    ([role, [open, close]], at) =>
      `{% ${at === 0 ? 'if' : 'elif'} message['role'] == '${role}' %}{{ ${quoted(textOf(open))} + message['content'] + ${quoted(textOf(close))} }}`,
  );
  const prompt = quoted(textOf(turns.assistant?.[0] ?? []));
  const template =
    `{{ ${quoted(textOf(bos))} }}{% for message in messages %}${branches.join('')}` +
    `{% else %}{{ raise_exception('no marks are declared of ' + message['role']) }}{% endif %}{% endfor %}` +
    `{% if add_generation_prompt %}{{ ${prompt} }}{% endif %}`;
  const [begin] = bos.length === 0 ? [] : own.encode(textOf(bos));
  return { tokenizer: { ...own, bosTokenId: begin ?? own.bosTokenId, chatTemplate: template } };
}

// --- helpers ---

const ROLES = ['system', 'user', 'assistant', 'tool'] as const;
const SHAPE = `{"user": ["<|user_start|>", "<|user_end|>"], "assistant": ["<|assistant_start|>", "<|assistant_end|>"]}`;

function markOf(value: unknown): Mark | undefined {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const fine = parts.filter(
    (part): part is string | number =>
      typeof part === 'string' || (typeof part === 'number' && Number.isInteger(part) && part >= 0),
  );
  return fine.length === parts.length ? fine.filter((part) => part !== '') : undefined;
}

/** As a literal of Jinja. */
const quoted = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;

/** A tokenizer of which nothing is known but ids. */
function spelling(special: readonly number[]): Tokenizer {
  const spelled = (id: number): string => `⟨${id}⟩`;
  return {
    name: 'ids',
    backend: 'huggingface',
    vocabSize: 0,
    encode: (text) => [...text.matchAll(/⟨(\d+)⟩/gu)].map(([, id]) => Number(id)),
    decode: (ids) => ids.map(spelled).join(''),
    token: spelled,
    tokenId: (token) => (/^⟨\d+⟩$/u.test(token) ? Number(token.slice(1, -1)) : undefined),
    specialIds: new Set(special),
    bosTokenId: undefined,
    eosTokenId: undefined,
    padTokenId: undefined,
    chatTemplate: undefined,
  };
}
