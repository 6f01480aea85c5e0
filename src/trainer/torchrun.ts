// What torchrun writes when it ends: a traceback of its own, some forty lines, in which one matters: which rank ended first, and how.

const TRACEBACK = 'Traceback (most recent call last)';
const OWN = /torch\.distributed\.elastic\.multiprocessing\.(?:errors\.ChildFailedError|api\.SignalException)/;
const FIRST = /Root Cause \(first observed failure\):[\s\S]*?\brank\s*: (\d+)[\s\S]*?\bexitcode\s*: (-?\d+)/;
/** Ends the sentence that is put in its place. */
const SAID = ' first, says torchrun';

/** The same text with a sentence in the place of torchrun's last words; any other text as it is. */
export function withoutTorchrun(stderr: string): string {
  const start = stderr.lastIndexOf(TRACEBACK);
  // Of a long text the beginning may have been cut off.
  const own = start < 0 ? '' : stderr.slice(start);
  if (!OWN.test(own)) return stderr;
  const [, rank, code] = FIRST.exec(own) ?? [];
  const how = Number(code) < 0 ? `was ended by signal ${-Number(code)}` : `ended with exit code ${code}`;
  return `${stderr.slice(0, start)}${rank === undefined ? '' : `rank ${rank} ${how}${SAID}\n`}`;
}

/** That sentence, where it is the last one. */
export function firstRankIn(stderr: string): string | undefined {
  const last = stderr.trimEnd().split('\n').at(-1);
  return last?.endsWith(SAID) ? last : undefined;
}
