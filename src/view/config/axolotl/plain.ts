// Rows of axolotl that are no conversations: a text, a question and its answer, segments with labels, or ids. Source:
// axolotl/prompt_tokenizers.py, axolotl/prompters.py, prompt_strategies/completion.py and input_output.py.
import type { JsonObject } from '../../../outside/decoded.ts';
import { isJsonObject } from '../../../outside/decoded.ts';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import { shapesOf } from '../../shape/shape.ts';
import { textOf } from '../keys.ts';
import type { Ruled, Tokens } from '../rows.ts';
import type { DatasetEntry } from './datasets.ts';

/** Of type alpaca, as scripts/view-config/known.py reads them. */
export interface Prompts {
  readonly system: string;
  readonly systemWithoutInput: string;
  readonly turn: string;
  readonly turnWithoutInput: string;
}

interface Making {
  readonly tokenizer: Tokenizer;
  readonly limit: number;
  readonly inputs: boolean;
  readonly prompts: Prompts;
}

export function plainRows({ kind, given }: DatasetEntry, making: Making): (row: JsonObject) => Ruled {
  const field = textOf(given.field ?? 'text');
  return (row) => {
    if (Array.isArray(row.input_ids) && row.labels !== undefined) return idsOf(row);
    if (kind === 'completion') return completion(row, field, making);
    if (kind === 'alpaca') return alpaca(row, making);
    return segments(row, making);
  };
}

// --- helpers ---

function idsOf(row: JsonObject): Ruled {
  const { input_ids, labels, attention_mask } = row;
  const shapes = shapesOf({ input_ids, labels, attention_mask });
  return 'problem' in shapes ? { stops: shapes.problem } : { shapes };
}

/** A longer text becomes several rows; beyond so many times the limit it is cut. */
const MOST_ROWS = 64;

function completion(row: JsonObject, field: string, { tokenizer, limit }: Making): Ruled {
  const text = row[field];
  if (typeof text !== 'string') return { stops: `it has no text in the column ${field}` };
  const ids = tokensOf(text, tokenizer, limit * MOST_ROWS, true);
  const rows: Tokens[] = [];
  for (let from = 0; from < ids.length; from += limit) {
    const own = ids.slice(from, from + limit);
    rows.push({
      ids: own,
      trained: own.map(() => true),
      form: 'text',
      assumed: 'every token is trained',
      promptsTrained: true,
    });
  }
  return { rows };
}

function alpaca(row: JsonObject, { tokenizer, limit, inputs, prompts }: Making): Ruled {
  const { instruction, input, output } = row;
  if (typeof instruction !== 'string' || typeof output !== 'string')
    return { stops: 'it has no text in the columns instruction and output' };
  const question =
    typeof input === 'string' && input !== ''
      ? prompts.system +
        prompts.turn.replace('{instruction}', () => instruction).replace('{input}', () => input)
      : prompts.systemWithoutInput + prompts.turnWithoutInput.replace('{instruction}', () => instruction);
  const source = tokensOf(question, tokenizer, limit, false);
  const answer = tokensOf(output, tokenizer, limit, true);
  const target = answer[0] === tokenizer.bosTokenId ? answer.slice(1) : answer;
  return {
    ids: [...source, ...target],
    trained: [...source.map(() => inputs), ...target.map(() => true)],
    form: 'instruction and output',
    assumed: inputs ? 'every token is trained' : 'the output is trained, with the EOS token',
    ...(inputs ? { promptsTrained: true } : {}),
  };
}

function segments(row: JsonObject, { tokenizer, inputs }: Making): Ruled {
  if (!Array.isArray(row.segments)) return { stops: 'it has no list in the column segments' };
  const ids: number[] = [];
  const trained: boolean[] = [];
  for (const each of row.segments) {
    if (!isJsonObject(each) || typeof each.text !== 'string') return { stops: 'a segment of it has no text' };
    const own = tokenizer.encode(each.text);
    ids.push(...own);
    trained.push(...own.map(() => inputs || Boolean(each.label)));
  }
  return {
    ids,
    trained,
    form: 'text',
    assumed: inputs ? 'every token is trained' : 'segments whose label is true are trained',
    promptsTrained: true,
  };
}

/** With the tokenizer's own BOS, cut, and ended where there is room. */
function tokensOf(text: string, tokenizer: Tokenizer, limit: number, ended: boolean): readonly number[] {
  if (text === '') return [];
  const ids = tokenizer.encode(text, { addSpecialTokens: true }).slice(0, limit);
  const eos = tokenizer.eosTokenId;
  return ended && eos !== undefined && ids.at(-1) !== eos && ids.length < limit ? [...ids, eos] : ids;
}
