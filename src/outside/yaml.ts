// YAML that somebody else has written, as PyYAML reads it: YAML 1.1, in which `yes` is true. Aliases are bounded by the
// parser, the size of the text here.
import { LineCounter, parseDocument } from 'yaml';
import type { Decoded } from './decoded.ts';

export interface Yaml {
  readonly value: unknown;
  /** The line of each key at the top, from 1; of one that is given twice, the last. */
  readonly lines: ReadonlyMap<string, number>;
  /** Keys at the top that are given more than once. */
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
    for (const item of itemsOf(document.contents)) {
      const { key } = item as {
        readonly key?: { readonly value?: unknown; readonly range?: readonly number[] };
      };
      if (typeof key?.value !== 'string') continue;
      if (lines.has(key.value)) twice.push(key.value);
      lines.set(key.value, counter.linePos(key.range?.[0] ?? 0).line);
    }
    return { ok: { value: document.toJS(), lines, twice } };
  } catch (error) {
    return { complaint: error instanceof Error ? error.message : String(error) };
  }
}

// --- helpers ---

function itemsOf(contents: unknown): readonly unknown[] {
  const { items } = (contents ?? {}) as { readonly items?: unknown };
  return Array.isArray(items) ? items : [];
}
