// What is known of ms-swift's rows when data and tokenizer are there: how rows are written, and what becomes of long ones.
import type { JsonObject } from '../../../outside/decoded.ts';
import type { Problem } from '../fault.ts';
import type { ConfigFile } from '../file.ts';
import type { Opened, Seen } from '../plan.ts';
import { type Ruled, ruledRows, type Tokens } from '../rows.ts';
import { messagesOf } from './messages.ts';
import { encode, missingToken, type SwiftSettings } from './rows.ts';

export function openSwift(config: ConfigFile, settings: SwiftSettings, seen: Seen): Opened | Problem {
  const { tokenizer } = seen;
  const missing = missingToken(settings.template, tokenizer);
  if (missing !== undefined)
    return {
      problem: `the template needs the token ${missing}, which the tokenizer ${tokenizer.name} does not have: is it the template of another model?`,
    };
  if (/\+|^(?!default$|last_round$|all$)/.test(settings.strategy))
    return {
      problem: `loss_scale ${settings.strategy} weighs parts of an answer by their words, which view does not: it knows default, last_round and all`,
    };
  const given = config.values.max_length;
  const limit = seen.maxLength ?? (given === undefined || given === null ? undefined : Number(given));
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 1))
    return { problem: `max_length of ${config.name} is not a length` };
  const rows = ruledRows('ms-swift', (row: JsonObject, from: number): Ruled => {
    const made = messagesOf(row, seen.columns[from] ?? seen.columns[0] ?? new Set());
    if (!('messages' in made)) return made;
    const encoded = encode(made, settings, tokenizer);
    return 'ids' in encoded && limit !== undefined && encoded.ids.length > limit
      ? long(encoded, limit, settings.truncation)
      : encoded;
  });
  return {
    settings: { shapes: rows.shapes },
    faults: [],
    after: () => rows.after(config),
  };
}

// --- helpers ---

/** Of a row that is cut, the first token is not trained. */
function long(row: Tokens, limit: number, truncation: string): Ruled {
  const { ids } = row;
  const part = (from: number): Tokens => ({
    ...row,
    ids: ids.slice(from, from + limit),
    trained: row.trained.slice(from, from + limit).map((trained, at) => trained && at > 0),
  });
  if (truncation === 'left') return part(ids.length - limit);
  if (truncation === 'right') return part(0);
  if (truncation === 'split')
    return { rows: Array.from({ length: Math.ceil(ids.length / limit) }, (_, at) => part(at * limit)) };
  return { filtered: 'max_length' };
}
