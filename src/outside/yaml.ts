// YAML that somebody else has written, as PyYAML reads it: YAML 1.1, in which `yes` is true. Aliases are bounded by the
// parser, the size of the text here.
import { LineCounter, parseDocument } from 'yaml';
import type { Decoded } from './decoded.ts';

export interface Yaml {
  readonly value: unknown;
  /** The line of each key, from 1, by its way from the top (`data.files`, `sets[0].path`); of one that is given twice, the last. */
  readonly lines: ReadonlyMap<string, number>;
  /** Keys that are given more than once, by the same way. */
  readonly twice: readonly string[];
}

/** A configuration of a trainer has a hundred lines; a megabyte is no configuration. */
export const MOST_YAML_BYTES = 2 ** 20;

export function parseYaml(text: string): Decoded<Yaml> {
  if (Buffer.byteLength(text) > MOST_YAML_BYTES)
    return { complaint: `it has more than ${MOST_YAML_BYTES.toLocaleString('en')} bytes` };
  const counter = new LineCounter();
  try {
    // PyYAML lets a key be given twice, and takes the last: who reads the file is to hear of it, not to be stopped.
    const document = parseDocument(text, {
      version: '1.1',
      uniqueKeys: false,
      lineCounter: counter,
      // It would warn on the terminal.
      logLevel: 'error',
    });
    const [error] = document.errors;
    if (error !== undefined) return { complaint: error.message.split('\n')[0] ?? error.code };
    const lines = new Map<string, number>();
    const twice: string[] = [];
    placesOf(document.contents, '', (way, offset) => {
      if (lines.has(way)) twice.push(way);
      lines.set(way, counter.linePos(offset).line);
    });
    return { ok: { value: document.toJS(), lines, twice } };
  } catch (error) {
    return { complaint: error instanceof Error ? error.message : String(error) };
  }
}

// --- helpers ---

interface Node {
  readonly items?: unknown;
  readonly key?: { readonly value?: unknown; readonly range?: readonly number[] };
  readonly value?: unknown;
}

/** Keys of mappings within mappings and lists; what an alias stands for was seen where it is written. */
function placesOf(node: unknown, way: string, say: (way: string, offset: number) => void): void {
  const { items } = (node ?? {}) as Node;
  if (!Array.isArray(items)) return;
  for (const [at, item] of items.entries()) {
    const { key, value } = (item ?? {}) as Node;
    if (key === undefined) {
      placesOf(item, `${way}[${at}]`, say);
      continue;
    }
    if (typeof key?.value !== 'string') continue;
    const own = way === '' ? key.value : `${way}.${key.value}`;
    say(own, key.range?.[0] ?? 0);
    placesOf(value, own, say);
  }
}
