// Compiling chat templates: line ends, a cache, and a sentence with a line number for those that do not compile.
// Rendering is in template.ts.
import { Template } from '@huggingface/jinja';
import { bound } from '../../bounds.ts';
import { onOneLine } from '../../outside/text.ts';
import { type Budget, patience, type Timed, timed } from '../deadline.ts';
import { recent } from '../recent.ts';
import { normalizeLineEnds, tooLong } from '../template-source.ts';
import { type InputSize, type Parsed, renderBounded } from './bounded.ts';
import { usePythonCalls } from './python-calls.ts';

/** What is used of the engine's template. Its own type is not shown: its declarations do not compile in a strict program. */
export interface CompiledTemplate {
  /** Within what the budget has left. */
  render(variables: Record<string, unknown>, size: InputSize, budget: Budget): Timed<string>;
}

export type Compiled = { readonly template: CompiledTemplate } | { readonly problem: string };

/** The template ready to render, or why it does not compile. Equal sources are compiled once. */
export function compileTemplate(source: string): Compiled {
  const known = cache.get(source);
  if (known !== undefined) return known;
  const compiled = compile(normalizeLineEnds(source));
  cache.set(source, compiled);
  return compiled;
}

// --- helpers ---

/** Enough for every template of a property's cases in flight; a parsed template is about 100 kB. Generated ones are rendered at once. */
const CACHED_TEMPLATES = 64;
const cache = recent<Compiled>(CACHED_TEMPLATES);

function compile(source: string): Compiled {
  const long = tooLong(source);
  if (long !== undefined) return { problem: long };
  const made = timed(patience(source.length), () => parsed(source));
  if ('overrun' in made) return { problem: 'its compilation does not come to an end' };
  if ('template' in made.done) return { template: { render: bounded(made.done.template) } };
  const { reason } = made.done;
  const lines = source.split('\n');
  const line = lineOfError(lines, reason);
  const shown = (lines[line - 1] ?? '').trim().slice(0, SHOWN_CHARACTERS);
  const place = line === 0 ? '' : `, line ${line} (${shown})`;
  return { problem: `it does not compile${place}: ${reason}. Correct it there.` };
}

function bounded(template: Parsed): CompiledTemplate['render'] {
  return (variables, size, budget) => renderBounded(template, variables, size, budget);
}

function parsed(source: string): { readonly template: Parsed } | { readonly reason: string } {
  try {
    const { parsed: template } = new Template(source);
    usePythonCalls(template);
    return { template };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/** Of what the engine says. */
const SHOWN_REASON = 500;
/** A line of a template is shown as far as a terminal is wide. */
const SHOWN_CHARACTERS = 80;

/**
 * The engine gives no position. The culprit is the line from which on every longer beginning of the template
 * fails in the same way as the whole; a block that is never closed is thereby named where it opens. Each beginning is
 * compiled again: where that takes too long, 0, and the line is not named.
 */
function lineOfError(lines: readonly string[], reason: string): number {
  const found = timed(LOOKING_MILLISECONDS, () => {
    let line = lines.length;
    while (line > 1 && reasonOfBeginning(lines.slice(0, line - 1)) === reason) line--;
    return line;
  });
  return 'done' in found ? found.done : 0;
}

const LOOKING_MILLISECONDS = bound({
  of: 'finding the line on which a template does not compile',
  cpu: 1_000,
  over: 'the error names no line',
});

function reasonOfBeginning(lines: readonly string[]): string | undefined {
  const beginning = parsed(lines.join('\n'));
  return 'reason' in beginning ? beginning.reason : undefined;
}

function reasonOf(error: unknown): string {
  return onOneLine(error instanceof Error ? error.message : String(error), SHOWN_REASON).replace(/\.$/, '');
}
