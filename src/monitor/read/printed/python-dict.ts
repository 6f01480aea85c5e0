// Metrics as Python prints them, which is all that many trainings write: `{'loss': 1.2574, 'grad_norm': 0.51, 'epoch': 0.1}`, one
// dict a line, among bars of progress.
import { isJsonObject, type JsonObject } from '../../../protocol/result.ts';
import { numberOf, parseObject } from '../json/objects.ts';

/** More is no line of metrics. */
const LONGEST = 65_536;
/** One of them is in every dict of metrics that transformers and its descendants print. */
const METRICS: readonly string[] = ['loss', 'epoch', 'step', 'learning_rate', 'train_runtime'];
const TOKEN = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|[A-Za-z_]\w*|[^'"A-Za-z_]+/gsy;
/** `np.float64(0.5)`, `tensor(0.5, device='cuda:0')` */
const BOXED = /\b(?:np\.\w{1,20}|tensor|Array|array)\(([-+.\w]{1,40})(?:, [^()]{0,80})?\)/g;
const WORDS: ReadonlyMap<string, string> = new Map([
  ['None', 'null'],
  ['True', 'true'],
  ['False', 'false'],
  ['nan', 'NaN'],
  ['inf', 'Infinity'],
  // Of a number: 1e-05.
  ['e', 'e'],
]);

/** Undefined for what is no dict of metrics; one that is `introduced` as that of a step may hold any names. */
export function parsePythonDict(text: string, introduced = false): JsonObject | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{'") || !trimmed.endsWith('}') || trimmed.length > LONGEST) return undefined;
  const line = trimmed.replace(BOXED, '$1');
  let json = '';
  let read = 0;
  for (const [token, single, double] of line.matchAll(TOKEN)) {
    read += token.length;
    const content = single ?? double;
    if (content !== undefined) json += JSON.stringify(content);
    else if (/^[A-Za-z_]/.test(token)) {
      const word = WORDS.get(token);
      if (word === undefined) return undefined; // a tensor, or any other object
      json += word;
    } else json += token;
  }
  // A quote that nothing closes.
  if (read < line.length) return undefined;
  const object = parseObject(json);
  if (object === undefined || !(introduced || METRICS.some((name) => name in object))) return undefined;
  return numbersOf(object);
}

/** Newer releases print numbers as texts, `{'loss': '1.257'}`, and so does fairseq. */
export function numbersOf(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      isJsonObject(value) ? value : (numberIn(value) ?? value),
    ]),
  );
}

function numberIn(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const number = value.trim() === '' ? Number.NaN : Number(value);
  return Number.isNaN(number) ? numberOf(value) : number;
}
