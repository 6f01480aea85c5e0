// The chat template that went along with a case: where one did, it is the first thing to look at, however long the case
// is.
import { FAMILY_SHAPES, templateOf } from '../generators/text/template.ts';
import { isJsonObject } from '../outside/decoded.ts';
import { parseStrict } from '../outside/json.ts';
import type { Failure } from './events.ts';

export interface SentTemplate {
  readonly source: string;
  /** The released family whose arrangement it has; only the token that ends an answer is the tokenizer's own. */
  readonly family?: string;
}

/** The template of a smallest case: as it stands in the case, or in what the trainer was asked. */
export function sentTemplate({ given, lines }: Pick<Failure, 'given' | 'lines'>): SentTemplate | undefined {
  const source = textIn(given, IN_CASES) ?? lines.map(templateInLine).find((each) => each !== undefined);
  if (source === undefined) return undefined;
  const family = families().get(source);
  return family === undefined ? { source } : { source, family };
}

/** The case with a few words where its template stands, to be read beside it. */
export function withoutTemplate(given: unknown, words: string): unknown {
  if (!isJsonObject(given)) return given;
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) =>
      IN_CASES.includes(key) && typeof value === 'string' ? [key, words] : [key, value],
    ),
  );
}

/** What the catalogue's cases call it, and the field of the ops. */
const IN_CASES: readonly string[] = ['template', 'chat_template'];

function templateInLine(line: string): string | undefined {
  if (!line.includes('"chat_template"')) return undefined;
  // It may be cut off, in a file of events that somebody edited.
  const read = parseStrict(line);
  return 'ok' in read && isJsonObject(read.ok) ? textIn(read.ok.args, ['chat_template']) : undefined;
}

function textIn(value: unknown, keys: readonly string[]): string | undefined {
  if (!isJsonObject(value)) return undefined;
  return keys.map((key) => value[key]).find((each) => typeof each === 'string' && each !== '') as
    | string
    | undefined;
}

let known: ReadonlyMap<string, string> | undefined;

/** Source to name. */
function families(): ReadonlyMap<string, string> {
  known ??= new Map(
    Object.entries(FAMILY_SHAPES).map(([name, shape]) => [templateOf(shape, []).source, name]),
  );
  return known;
}
