// The saved cases of shards: each was found on a node, whose folder is gone by now, and is wanted where the command was typed.
import type { Corpus } from '../../check/saved/corpus.ts';
import { savedCase } from '../../check/saved/saved-case.ts';
import type { Run } from '../../report/runs.ts';

/** As a run of this machine leaves them: what fails is saved, what was saved and holds now is removed. What could not be saved is returned. */
export function keepCases(runs: readonly Run[], corpus: Corpus, name: string | undefined): readonly string[] {
  const complaints = new Set<string>();
  for (const { start, results } of runs)
    for (const { id, verdict, failure, others = [], fixed } of results) {
      // What is listed as known has its case in that list.
      const isNew = failure !== undefined && verdict !== 'known' && verdict !== 'changed';
      for (const each of isNew ? [failure, ...others] : []) {
        const complaint = corpus.save(
          savedCase(id, each, {
            trainer: start.hello.name,
            command: start.command,
            ...(name === undefined ? {} : { name }),
            version: start.version,
          }),
        );
        if (complaint !== undefined) complaints.add(complaint);
      }
      for (const each of fixed) corpus.remove(each);
    }
  return [...complaints];
}
