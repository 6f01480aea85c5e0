// `--resume`: a run of `mutate` that was cut off goes on. What it judged stands; everything about it must be as it was.
import type { MutateStart, Mutation } from '../../mutate/events.ts';
import { plural } from '../../report/text/plural.ts';
import type { Problem } from '../context.ts';

/** The run that is gone on with; a problem where it is none of this trainer as it is now. */
export function goingOn(before: Mutation | undefined, now: MutateStart, file: string): Mutation | Problem {
  if (before === undefined)
    return { problem: `--resume: no run of this trainer is kept in ${file}; leave --resume out` };
  const { start } = before;
  const changed = now.files.find(
    (each, at) => start.files[at]?.path !== each.path || start.files[at]?.print !== each.print,
  );
  const other =
    start.version !== now.version
      ? `of lossproof ${start.version}`
      : start.seed !== now.seed
        ? `with seed ${start.seed}`
        : start.cases !== now.cases
          ? `with ${plural(start.cases, 'case')} a property`
          : changed !== undefined || start.files.length !== now.files.length
            ? `of other text: ${changed?.shown ?? start.files.at(-1)?.shown} is not what it was`
            : start.asked !== now.asked
              ? 'of other properties, known failures or declarations'
              : undefined;
  return other === undefined
    ? before
    : { problem: `--resume: the run in ${file} was ${other}; nothing of it stands. Leave --resume out` };
}
