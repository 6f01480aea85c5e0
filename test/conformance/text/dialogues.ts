// Legal ways to render tools, to label conversations that do not alternate, and to decode.
import {
  type Args,
  cleanedUp,
  type Ids,
  loadTokenizer,
  type Message,
  type Ok,
  reject,
  renderChat,
  type Semantics,
  type Tokenizer,
  type Tokens,
  type TrainFlagName,
} from '../../../src/index.ts';
import { familyFolder } from '../../../src/tokenizers/families.ts';
import { type Legal, legal, repeat } from '../legal.ts';

export function family(name: string): Tokenizer {
  const loaded = loadTokenizer(familyFolder(name));
  if ('problem' in loaded) throw new Error(loaded.problem);
  return loaded.tokenizer;
}

/** What ends a turn need not be the tokenizer's eos. */
function tokensOf(tokenizer: Tokenizer, stop: string, more: Ids): Tokens {
  const id = tokenizer.tokenId(stop) ?? tokenizer.eosTokenId ?? 0;
  return { vocab_size: tokenizer.vocabSize, pad_token_id: id, eos_token_ids: [id, ...more] };
}

function written(tokenizer: Tokenizer, messages: readonly Message[], add: boolean): string {
  const token = (id: number | undefined): string => (id === undefined ? '' : (tokenizer.token(id) ?? ''));
  const text = renderChat(tokenizer.chatTemplate ?? '', {
    messages,
    addGenerationPrompt: add,
    bosToken: token(tokenizer.bosTokenId),
    eosToken: token(tokenizer.eosTokenId),
  });
  return 'text' in text ? text.text : reject(text.problem);
}

interface Labelling {
  readonly target: NonNullable<Semantics['sft_target']>;
  /** What the template writes behind a stop token is trained with the answer. */
  readonly rest?: boolean;
  /** What the template writes at the end of a row is cut off (OpenRLHF). */
  readonly strips?: boolean;
  /** Raises an exception. */
  readonly refuses?: (messages: readonly Message[]) => boolean;
  /** Rejects. */
  readonly declines?: (messages: readonly Message[]) => boolean;
  /** A stop token more behind the row. */
  readonly append?: number;
  readonly flags?: {
    readonly name: TrainFlagName;
    /** Whether a message is trained, where it says so itself. */
    readonly says: (message: Message) => boolean | undefined;
    /** Declared, or known and not declared. */
    readonly roles?: Pick<Semantics, 'flagged_roles'>;
    readonly is?: Pick<Semantics, 'flagged_roles'>;
  };
}

/** Labels by rendering up to each answer, and from there to its end. */
export function chatting(name: string, which: string, stop: string, how: Labelling): Legal {
  const tokenizer = family(which);
  const tokens = tokensOf(tokenizer, stop, how.append === undefined ? [] : [how.append]);
  const encode = (messages: readonly Message[], add: boolean): Ids =>
    tokenizer.encode(written(tokenizer, messages, add));
  const tokenize = ({ route, messages, add_generation_prompt: add }: Args<'tokenize'>): Ok<'tokenize'> => {
    if (how.refuses?.(messages) === true) throw new Error('roles must alternate');
    if (how.declines?.(messages) === true) reject('no system texts');
    const text = written(tokenizer, messages, add);
    const ids = tokenizer.encode(how.strips === true && !add ? text.trimEnd() : text);
    if (route === 'rl') return { input_ids: ids };
    const labels = ids.map(() => -100);
    const last = messages.findLastIndex(({ role }) => role === 'assistant');
    for (const [at, message] of messages.entries()) {
      const { role } = message;
      const byRole = role === 'assistant' && (how.target !== 'last-assistant' || at === last);
      if (!(how.flags?.says(message) ?? byRole)) continue;
      const from =
        at === 0 && role !== 'assistant' ? 0 : encode(messages.slice(0, at), role === 'assistant').length;
      const rest = encode(messages.slice(0, at + 1), false).length;
      const end = ids.findIndex((id, column) => column >= from && tokens.eos_token_ids.includes(id));
      const to = how.rest === true || end < 0 ? rest : end + 1;
      for (let column = from; column < Math.min(to, ids.length); column++)
        labels[column] = ids[column] ?? -100;
    }
    const more = how.append === undefined || add ? [] : [how.append];
    return { input_ids: [...ids, ...more], labels: [...labels, ...more] };
  };
  const render = ({ messages, add_generation_prompt: add }: Args<'render'>): Ok<'render'> => ({
    text: written(tokenizer, messages, add),
  });
  const padded = (rows: readonly Ids[], fill: number): number[][] => {
    const width = Math.max(...rows.map((row) => row.length));
    return rows.map((row) => [...row, ...repeat(fill, width - row.length)]);
  };
  const sft_batch = ({ conversations }: Args<'sft_batch'>): Ok<'sft_batch'> => {
    const rows = conversations.map((messages) =>
      tokenize({ route: 'sft', messages, add_generation_prompt: false }),
    );
    const ids = rows.map(({ input_ids }) => input_ids);
    return {
      input_ids: padded(ids, tokens.pad_token_id),
      attention_mask: padded(
        ids.map((row) => row.map(() => 1)),
        0,
      ),
      labels: padded(
        rows.map(({ labels = [] }) => labels),
        -100,
      ),
    };
  };
  const rollout = ({ conversations, sampled_ids }: Args<'rollout'>): Ok<'rollout'> => {
    const prompt_ids = conversations.map(
      (messages) => tokenize({ route: 'rl', messages, add_generation_prompt: true }).input_ids,
    );
    const rows = prompt_ids.map((prompt, row) => [...prompt, ...(sampled_ids[row] ?? [])]);
    return {
      prompt_ids,
      input_ids: padded(rows, tokens.pad_token_id),
      attention_mask: padded(
        rows.map((row) => row.map(() => 1)),
        0,
      ),
      completion_mask: padded(
        rows.map((row, at) => row.map((_, column) => Number(column >= (prompt_ids[at]?.length ?? 0)))),
        0,
      ),
    };
  };
  const tools = { tools: true };
  const labelled = { ...tools, ...(how.flags === undefined ? {} : { message_flag: how.flags.name }) };
  return legal(
    name,
    { render, tokenize, sft_batch, rollout },
    {
      semantics: { sft_target: how.target, ...how.flags?.roles },
      tokens,
      can: {
        render: tools,
        tokenize: labelled,
        // Asked once is enough: to make a question small takes seconds per seed.
        sft_batch: how.flags?.is === undefined ? labelled : tools,
        rollout: tools,
      },
      ...(how.flags?.is === undefined ? {} : { is: how.flags.is }),
    },
    tokenizer,
  );
}

const spoken = (messages: readonly Message[]) =>
  messages.map(({ role }) => role).filter((role) => role !== 'system');
/** Two of a kind in a row, or nobody asked: what many loaders raise an exception on. */
const irregular = (messages: readonly Message[]): boolean => {
  const roles = spoken(messages);
  return roles[0] === 'assistant' || roles.some((role, at) => role !== 'tool' && role === roles[at + 1]);
};

type Decode = (ids: Ids, tokenizer: Tokenizer) => string;

const whole: Decode = (ids, tokenizer) => tokenizer.decode(ids);
const bare: Decode = (ids, tokenizer) => tokenizer.decode(ids.filter((id) => !tokenizer.specialIds.has(id)));
const cleaned: Decode = (ids, tokenizer) => cleanedUp(bare(ids, tokenizer));
const spaced: Decode = (ids, tokenizer) => {
  const parts: number[][] = [];
  for (const [at, id] of ids.entries()) {
    const before = ids[at - 1];
    const apart = tokenizer.specialIds.has(id) || (before !== undefined && tokenizer.specialIds.has(before));
    if (at === 0 || apart) parts.push([]);
    parts.at(-1)?.push(id);
  }
  return parts.map((part) => tokenizer.decode(part)).join(' ');
};

function decoding(name: string, which: string, decode: Decode, skip?: boolean): Legal {
  const tokenizer = family(which);
  const capability = skip === undefined ? {} : { skip_special_tokens: skip };
  return legal(
    name,
    { decode: ({ ids }) => ({ text: decode(ids, tokenizer) }) },
    { can: { decode: capability } },
    tokenizer,
  );
}

export const dialogues: readonly Legal[] = [
  chatting('tools in Qwen, every answer trained', 'qwen', '<|im_end|>', { target: 'assistant' }),
  chatting('tools in Qwen, trained with the line end', 'qwen', '<|im_end|>', {
    target: 'assistant',
    rest: true,
  }),
  chatting('Qwen, trained with the line end that no row ends with', 'qwen', '<|im_end|>', {
    target: 'assistant',
    rest: true,
    strips: true,
  }),
  chatting('tools in Qwen, the last answer trained', 'qwen', '<|im_end|>', { target: 'last-assistant' }),
  chatting('tools in Phi, refuses what does not alternate', 'phi', '<|end|>', {
    target: 'assistant',
    refuses: irregular,
  }),
  chatting('tools in Llama 3, eos behind the row', 'llama3', '<|eot_id|>', {
    target: 'assistant',
    append: family('llama3').tokenId('<|end_of_text|>') ?? 0,
  }),
  // Its system text moves to the last question, so that no row can be measured by its parts.
  chatting('a template that refuses tools, without system texts', 'mistral', '', {
    target: 'assistant',
    declines: ([first]) => first?.role === 'system',
  }),
  ...['llama3', 'gemma', 'mistral', 'deepseek', 'qwen', 'phi'].flatMap((which) => [
    decoding(`decodes ${which} with special tokens`, which, whole, false),
    decoding(`decodes ${which} without special tokens`, which, bare),
  ]),
  decoding('cleans spaces up', 'llama3', cleaned, true),
  decoding('puts spaces around special tokens', 'qwen', spaced),
];
