// What takes too long in all is divided: `--part I/N` of a long run.

/** Every Nth, beginning with the Ith, so that the slow ones are spread. Throws where it is not written as 2/8. */
export function inPart<T>(all: readonly T[], part: string): readonly T[] {
  const [, at, parts] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(part) ?? [];
  if (at === undefined || Number(at) > Number(parts))
    throw new Error(`--part is ${part}; say which of how many, as 2/8`);
  return all.filter((_, index) => index % Number(parts) === Number(at) - 1);
}
