// What the rows of `view` are read with: tokenizer, chat template, stop tokens, and what is trained.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isJsonObject } from '../../outside/decoded.ts';
import { MOST_FILE_BYTES, readGiven, readJson } from '../../outside/file.ts';
import { loadTokenizer } from '../../tokenizers/load.ts';
import { checkTemplate } from '../../tokenizers/template.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { TrainOn, ViewOptions } from '../../view/row.ts';
import { writerOf } from '../../view/writer.ts';
import type { PaddingSide } from '../../vocabulary.ts';
import { namedTokenizer } from '../check/plan.ts';
import { loadConfig } from '../config/config.ts';
import { type Context, isProblem, type Problem } from '../context.ts';

export interface WorldOptions {
  readonly tokenizer?: string;
  readonly template?: string;
  readonly trainOn?: TrainOn;
  readonly maxLength?: number;
  readonly truncationSide: PaddingSide;
  readonly stop?: readonly string[];
}

/** The tokenizer of the configuration where none is typed; without any, rows of ids can still be looked at. */
export async function worldOf(
  options: WorldOptions,
  context: Context,
  /** The source of a chat template, where no file of one was typed. */
  source?: string,
): Promise<ViewOptions | Problem> {
  const settings = {
    truncationSide: options.truncationSide,
    ...(options.trainOn === undefined ? {} : { trainOn: options.trainOn }),
    ...(options.maxLength === undefined ? {} : { maxLength: options.maxLength }),
  };
  const found = options.tokenizer === undefined ? await loadConfig(context, undefined, 'glance') : undefined;
  if (found !== undefined && isProblem(found)) return found;
  const folder = namedTokenizer(options, found, context.cwd);
  if (folder === undefined) {
    if (options.template !== undefined)
      return { problem: '--template needs --tokenizer, which knows its special tokens' };
    const stops = stopIds(options.stop ?? [], undefined);
    return isProblem(stops) ? stops : { ...settings, stops };
  }
  const backend = found?.config.tokenizerBackend;
  const loaded = loadTokenizer(folder, backend === undefined ? {} : { backend });
  if ('problem' in loaded) return loaded;
  const { tokenizer } = loaded;
  const template =
    options.template === undefined
      ? (source ?? tokenizer.chatTemplate)
      : templateOf(options.template, context);
  if (typeof template === 'object') return template;
  const stops = stopIds(options.stop ?? [], tokenizer);
  if (isProblem(stops)) return stops;
  return {
    ...settings,
    ...embeddingsIn(folder),
    tokenizer,
    stops,
    ...(template === undefined ? {} : { writer: writerOf(tokenizer, template) }),
  };
}

export function templateOf(file: string, context: Context): string | Problem {
  const read = readGiven(resolve(context.cwd, file), MOST_FILE_BYTES);
  if ('complaint' in read) return { problem: `the chat template ${file} cannot be read: ${read.complaint}` };
  const source = read.ok.toString('utf8');
  const { problem } = checkTemplate(source);
  return problem === undefined ? source : { problem: `the chat template ${file}: ${problem}` };
}

// --- helpers ---

/** Rows of the embedding, as config.json beside the tokenizer has them; without one, or with a strange one, nothing is known. */
function embeddingsIn(folder: string): Pick<ViewOptions, 'embeddings'> {
  const file = join(folder, 'config.json');
  const read = existsSync(file) ? readJson(file) : undefined;
  if (read === undefined || !('ok' in read) || !isJsonObject(read.ok)) return {};
  const { vocab_size: own, text_config: text } = read.ok;
  // Of a model that also sees images, the language model has a part of its own.
  const size = own ?? (isJsonObject(text) ? text.vocab_size : undefined);
  return typeof size === 'number' && Number.isSafeInteger(size) && size > 0 ? { embeddings: size } : {};
}

function stopIds(names: readonly string[], tokenizer: Tokenizer | undefined): readonly number[] | Problem {
  const ids: number[] = [];
  for (const name of names) {
    const id = tokenizer?.tokenId(name) ?? (/^\d+$/.test(name) ? Number(name) : undefined);
    if (id === undefined) return { problem: `--stop ${name}: the tokenizer has no such token` };
    ids.push(id);
  }
  return ids;
}
