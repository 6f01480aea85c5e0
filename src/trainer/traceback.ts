// Finds what a Python process died of in what it wrote to stderr.

/** Lines of a traceback that are shown: the innermost frames and the error. */
const TRACEBACK_LINES = 15;

/** The last Python traceback in a stderr tail, its middle left out where it is long. */
export function lastTraceback(stderr: string): string | undefined {
  const start = stderr.lastIndexOf('Traceback (most recent call last)');
  if (start < 0) return undefined;
  const lines = stderr.slice(start).trimEnd().split('\n');
  if (lines.length <= TRACEBACK_LINES) return lines.join('\n');
  return [lines[0], '  …', ...lines.slice(2 - TRACEBACK_LINES)].join('\n');
}
