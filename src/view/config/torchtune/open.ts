// What is known of torchtune's rows when data and tokenizer are there: columns, ids of special tokens, and the rows themselves.
import type { JsonObject } from '../../../outside/decoded.ts';
import { IGNORE_INDEX } from '../../../vocabulary.ts';
import type { TokenRow } from '../../row.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import { nearest } from '../keys.ts';
import { knownOf } from '../known.ts';
import type { Opened, Seen } from '../plan.ts';
import { type Ruled, ruledRows, type Tokens } from '../rows.ts';
import type { NamedSet } from './datasets.ts';
import { type Losses, type Talk, type TuneSet, talksOf } from './messages.ts';
import { conversationRow, MARKS, type TuneTokenizer, textTokens, unlike } from './tokens.ts';

interface TuneSettings {
  readonly sets: readonly NamedSet[];
  readonly tokenizer: TuneTokenizer;
}

export function openTune(
  config: ConfigFile,
  { sets, tokenizer: given }: TuneSettings,
  seen: Seen,
): Opened | Problem {
  const settings = { ...given, ...(seen.maxLength === undefined ? {} : { limit: seen.maxLength }) };
  const alpaca = knownOf('torchtune').templates.alpaca as Readonly<Record<string, string>>;
  // One data set may be of several files.
  const setOf = sets.flatMap(({ set, files }) => (files.length === 0 ? [set] : files.map(() => set)));
  const losses: Losses = { repeated: 0, calls: 0 };
  const rows = ruledRows('torchtune', (row, from) => {
    const set = setOf[from] ?? setOf[0];
    if (set === undefined) return { stops: 'there is no data set' };
    if (set.stops !== undefined) return { stops: set.stops };
    // load_dataset gives every row the columns of all of them.
    const columns = [...(seen.columns[from] ?? seen.columns[0] ?? [])];
    const whole = { ...Object.fromEntries(columns.map((name) => [name, null])), ...row };
    if (set.kind === 'text_completion_dataset') return textRow(whole, set, settings, seen);
    const talks = talksOf(whole, set, { losses, alpaca });
    if (!('length' in talks)) return talks;
    const texts = talks.flatMap(({ said }) => said.flatMap(({ role, texts: own }) => [role, ...own]));
    const odd = texts
      .map((text) => unlike(text, settings, seen.tokenizer))
      .find((each) => each !== undefined);
    if (odd !== undefined) return { unsupported: odd };
    return { rows: talks.map((talk) => rowOfTalk(talk, set, settings, seen)) };
  });
  return {
    settings: { shapes: rows.shapes },
    faults: [...columnFaults(config, setOf, seen), ...specialFaults(config, given, seen)],
    after: () => {
      const after = rows.after(config);
      return { ...after, faults: [...after.faults, ...lossFaults(config, sets, losses)] };
    },
  };
}

// --- helpers ---

function rowOfTalk(
  { said, form }: Talk,
  set: TuneSet,
  settings: TuneTokenizer,
  { tokenizer, trainOn }: Seen,
): Tokens {
  const row = conversationRow(said, settings, tokenizer);
  // What is typed is compared with labels alone.
  const labels = row.ids.map((id, at) => (row.trained[at] === true ? id : IGNORE_INDEX));
  return {
    ...plain(trainOn === undefined ? row : { ...row, given: { labels } }),
    form,
    messages: said.map(({ role, texts, more }) => ({ ...more, role, content: texts.join('') })),
    assumed: set.trainsInput
      ? 'every token is trained but BOS and EOS (train_on_input)'
      : 'every answer is trained, with the header and the stop token that are written around it',
    ...(set.trainsInput ? { promptsTrained: true } : {}),
  };
}

const plain = (row: TokenRow): Pick<Tokens, 'ids' | 'trained' | 'row'> => ({
  ids: row.ids,
  trained: row.trained,
  row,
});

function textRow(
  row: JsonObject,
  { columns, addsEos }: TuneSet,
  settings: TuneTokenizer,
  { tokenizer }: Seen,
): Ruled {
  const text = row[columns.text ?? 'text'];
  if (typeof text !== 'string') return { stops: `its ${columns.text} is no text` };
  const odd = unlike(text, settings, tokenizer);
  if (odd !== undefined) return { unsupported: odd };
  const ids = textTokens(text, settings, { tokenizer, addsEos });
  return {
    ids,
    trained: ids.map(() => true),
    form: 'text',
    assumed: `every token is trained, and ${addsEos ? 'EOS is' : 'no EOS is'} put after it`,
    promptsTrained: true,
  };
}

/** Names of columns in a sentence. */
const SHOWN = 6;

function columnFaults(config: ConfigFile, setOf: readonly TuneSet[], { columns }: Seen): SettingFault[] {
  return [...new Set(setOf)].flatMap((set) => {
    const { part, kind, columns: named, stops } = set;
    const has = [...new Set(setOf.flatMap((each, at) => (each === set ? [...(columns[at] ?? [])] : [])))];
    if (has.length === 0 || stops !== undefined) return [];
    const missing = Object.entries(named).filter(
      ([name, column]) => !OPTIONAL.has(`${kind}.${name}`) && name !== 'image' && !has.includes(column),
    );
    return [...new Set(missing.map(([, column]) => column))].map((column) => {
      const near = nearest(column, has);
      const meant =
        near === undefined ? ` The rows have ${has.slice(0, SHOWN).join(', ')}.` : ` Is ${near} meant?`;
      const key = KEY_OF_COLUMN[kind] ?? 'column_map';
      return faultOf(config, `${part}.${key}`, `torchtune stops: no row has the column ${column}.${meant}`);
    });
  });
}

const KEY_OF_COLUMN: Readonly<Record<string, string>> = {
  chat_dataset: 'conversation_column',
  text_completion_dataset: 'column',
};
const OPTIONAL = new Set(['alpaca_dataset.input']);

/** Ids that torchtune puts in, against those of the vocabulary. */
function specialFaults(
  config: ConfigFile,
  { kind, specials }: TuneTokenizer,
  { tokenizer }: Seen,
): SettingFault[] {
  const other = MARKS[kind].find((mark) => specials[mark] !== tokenizer.tokenId(mark));
  if (other === undefined) return [];
  const [theirs, own] = [specials[other], tokenizer.tokenId(other)];
  return [
    faultOf(
      config,
      'tokenizer.special_tokens_path',
      `torchtune ${theirs === undefined ? 'has no id' : `puts in the id ${theirs}`} for ${other}, and tokenizer.json of ${tokenizer.name} ${own === undefined ? 'has no such token' : `has ${own}`}: set it to this tokenizer.json, or name the tokenizer of this model.`,
    ),
  ];
}

function lossFaults(
  config: ConfigFile,
  sets: readonly NamedSet[],
  { repeated, calls }: Losses,
): SettingFault[] {
  const part = sets.find(({ set }) => set.style === 'openai')?.set.part ?? 'dataset';
  const say = (count: number, what: string): SettingFault[] =>
    count === 0
      ? []
      : [
          faultOf(
            config,
            `${part}.conversation_style`,
            `${count} ${count === 1 ? 'message' : 'messages'} ${what}`,
          ),
        ];
  return [
    ...say(repeated, 'without text: torchtune repeats the text of the message before in its place.'),
    ...say(calls, 'with tool_calls: torchtune drops the calls, and trains the text alone.'),
  ];
}
