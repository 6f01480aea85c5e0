// The files of `gap` as rollouts, and why some rows are none.
import type { SideName } from '../../gap/model.ts';
import { type Names, type Recorded, rolloutsOf } from '../../gap/read/read.ts';
import { sided } from '../../gap/read/sides.ts';
import { parsePython } from '../../outside/json.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { fileSource } from '../view/source.ts';

export interface Read {
  readonly rollouts: readonly Recorded[];
  /** The side that no row has. */
  readonly missing?: SideName;
  readonly leftOut: { readonly rows: number; readonly first: string | undefined };
}

/** Some 400 MB; an answer needs a hundredth of it. */
const MOST_TOKENS = 4_000_000;

/** @param alone one side is enough: a model stands for the other. */
export async function readRollouts(
  files: readonly string[],
  { alone, ...named }: Partial<Names> & { readonly alone: boolean },
  context: Context,
): Promise<Read | Problem> {
  const rollouts: Recorded[] = [];
  const complaints = { rows: 0, first: undefined as string | undefined };
  let tokens = 0;
  for (const file of files) {
    const source = await fileSource(file, context, { command: 'gap', parse: parsePython });
    if (isProblem(source)) return source;
    const unread = await source.each(({ number, value, problem }) => {
      context.endWithStarter?.();
      if (tokens > MOST_TOKENS) return;
      const where = `${source.name} row ${number}`;
      const read =
        problem === undefined ? rolloutsOf(value, where, named) : [{ complaint: `${where}: ${problem}` }];
      for (const each of read) {
        if ('complaint' in each) {
          complaints.rows++;
          complaints.first ??= each.complaint;
        } else {
          rollouts.push(each);
          tokens += each.ids.length;
        }
      }
    });
    if (unread !== undefined) return unread;
  }
  const { rows: kept, complaints: lost, missing } = sided(rollouts, alone);
  complaints.rows += lost.length;
  complaints.first ??= lost[0]?.complaint;
  if (kept.length > 0)
    return { rollouts: kept, leftOut: complaints, ...(missing === undefined ? {} : { missing }) };
  const { rows, first } = complaints;
  return {
    problem:
      first === undefined
        ? `${files.join(', ')}: no rows`
        : rows > 1
          ? `none of ${rows} rows can be compared. The first: ${first}`
          : first,
  };
}
