// A run of `mutate` as one JSON object, for programs.
import { type Mutation, scoreOf } from '../../mutate/events.ts';
import { hintsOf } from '../../mutate/hints.ts';
import { shareFound, unreachedFunctions } from './mutate.ts';

export function mutationJson(mutation: Mutation): string {
  const { start, judged, end } = mutation;
  const score = scoreOf(mutation);
  const byId = new Map(judged.map((each) => [each.id, each]));
  return JSON.stringify(
    {
      version: start.version,
      command: start.command,
      started: start.started,
      seed: start.seed,
      cases: start.cases,
      ...score,
      share: shareFound(score) ?? null,
      interrupted: end?.interrupted ?? true,
      files: start.files.map(({ shown }) => shown),
      changes: start.changes.map(({ id, file, line, kind, function: name, before, after, bugs }) => {
        const own = byId.get(id);
        const {
          outcome = 'untried',
          by,
          error,
          reason,
          ops = [],
          declare,
          follows,
          skips,
          answers,
          milliseconds,
        } = own ?? {};
        return {
          id,
          file: start.files[file]?.shown ?? '',
          line,
          kind,
          function: name,
          before,
          after,
          bugs,
          outcome: own === undefined ? 'left' : outcome,
          ...{ by, error, reason, ops, declare, follows, skips, answers, milliseconds },
          ...(own?.outcome === 'survives' ? { hints: hintsOf(own, start) } : {}),
        };
      }),
      unreached: unreachedFunctions(mutation),
    },
    null,
    2,
  );
}
