// Compiling chat templates: line ends, a cache, and a sentence with a line number for those that do not compile.
// Rendering is in template.ts.
import { Template } from '@huggingface/jinja';
import { usePythonCalls } from './python-calls.ts';
import { normalizeLineEnds } from './template-source.ts';

/** What is used of the engine's template. Its own type is not shown: its declarations do not compile in a strict program. */
export interface CompiledTemplate {
  render(variables: Record<string, unknown>): string;
}

export type Compiled = { readonly template: CompiledTemplate } | { readonly problem: string };

/** The template ready to render, or why it does not compile. Equal sources are compiled once. */
export function compileTemplate(source: string): Compiled {
  const known = cache.get(source);
  if (known !== undefined) return known;
  const compiled = compile(normalizeLineEnds(source));
  // The oldest goes first; a run cycles through few templates, and generated ones are rendered at once.
  if (cache.size >= CACHED_TEMPLATES)
    for (const oldest of [...cache.keys()].slice(0, 1)) cache.delete(oldest);
  cache.set(source, compiled);
  return compiled;
}

/** `{}` for a template that compiles. */
export function checkTemplate(source: string): { readonly problem?: string } {
  const compiled = compileTemplate(source);
  return 'problem' in compiled ? { problem: compiled.problem } : {};
}

// --- helpers ---

/** Enough for every template of a property's cases in flight; a parsed template is about 100 kB. */
const CACHED_TEMPLATES = 64;
const cache = new Map<string, Compiled>();

function compile(source: string): Compiled {
  try {
    const template = new Template(source);
    usePythonCalls(template.parsed);
    return { template };
  } catch (error) {
    const reason = reasonOf(error);
    const lines = source.split('\n');
    const line = lineOfError(lines, reason);
    const shown = (lines[line - 1] ?? '').trim().slice(0, SHOWN_CHARACTERS);
    return { problem: `it does not compile, line ${line} (${shown}): ${reason}. Correct it there.` };
  }
}

/** A line of a template is shown as far as a terminal is wide. */
const SHOWN_CHARACTERS = 80;

/**
 * The engine gives no position. The culprit is the line from which on every longer beginning of the template
 * fails in the same way as the whole; a block that is never closed is thereby named where it opens.
 */
function lineOfError(lines: readonly string[], reason: string): number {
  let line = lines.length;
  while (line > 1 && reasonOfBeginning(lines.slice(0, line - 1)) === reason) line--;
  return line;
}

function reasonOfBeginning(lines: readonly string[]): string | undefined {
  try {
    new Template(lines.join('\n'));
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
