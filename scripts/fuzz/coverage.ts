// Which code an input reached that none had reached before it, as V8 counts blocks: what a fuzzer goes on from.
import { countBlocks, type Range, type Script } from '../v8-counts.ts';

/** What ran since it was last asked. */
type Ran = readonly Script[];

export interface Coverage {
  readonly take: () => Ran;
  /** Whether some of it had never run. */
  readonly isNew: (ran: Ran) => boolean;
  /** From now on it has run. */
  readonly add: (ran: Ran) => void;
  /** Characters of code that have run. */
  readonly reached: () => number;
}

/** Of the code whose address `counts`; from now on. What runs in other threads is not seen. */
export function coverageOf(counts: (url: string) => boolean): Coverage {
  const taken = countBlocks({ calls: false });
  const known = new Map<string, Uint8Array>();
  let reached = 0;
  return {
    take: () => taken().filter(({ url }) => counts(url)),
    isNew: (ran) => newIn(ran, () => true),
    add(ran) {
      newIn(ran, (has, at) => {
        has[at] = 1;
        reached++;
        return false;
      });
    },
    reached: () => reached,
  };

  /** Whether `found` ends the search at a character that runs for the first time. */
  function newIn(ran: Ran, found: (known: Uint8Array, at: number) => boolean): boolean {
    for (const { url, functions } of ran)
      for (const { ranges } of functions) {
        const [whole] = ranges;
        if (whole === undefined) continue;
        const has = knownOf(url, whole.endOffset);
        for (const [at, runs] of charactersOf(ranges, whole).entries())
          if (runs === 1 && has[whole.startOffset + at] === 0 && found(has, whole.startOffset + at))
            return true;
      }
    return false;
  }

  function knownOf(url: string, length: number): Uint8Array {
    const has = known.get(url) ?? new Uint8Array(0);
    if (has.length >= length) return has;
    const longer = new Uint8Array(2 * length);
    longer.set(has);
    known.set(url, longer);
    return longer;
  }
}

/** Of one function, 1 a character that ran: each range says otherwise than the one around it, which stands before it. */
function charactersOf(ranges: readonly Range[], whole: Range): Uint8Array {
  const from = whole.startOffset;
  const ran = new Uint8Array(whole.endOffset - from);
  for (const { startOffset, endOffset, count } of ranges)
    ran.fill(count > 0 ? 1 : 0, startOffset - from, endOffset - from);
  return ran;
}
