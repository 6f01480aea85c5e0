// The saved failures of one property while it is judged: the first case of each cause is saved as soon as it is found, so that a kill
// loses no failure, and gives way to the smaller one. A saved failure belongs to the trainer that it was found on.
import type { Failure } from '../events.ts';
import type { Corpus } from './corpus.ts';
import { type SavedCase, savedCase } from './saved-case.ts';

export type Owner = Pick<SavedCase, 'trainer' | 'command' | 'name' | 'version'>;

export interface Keeper {
  /** Saves the case as it was drawn, if it is the first of its cause. */
  first(cause: string, drawn: () => Failure): void;
  /** Saves what is told in the end. A failure that could not be saved says so. */
  last(failures: readonly Failure[]): readonly Failure[];
  /** It holds now. Forgotten, and true, if it is this trainer's; another trainer may still have it. */
  holds(saved: SavedCase): boolean;
}

export function keeperOf(
  property: string,
  owner: Owner,
  corpus: Corpus | undefined,
  onNotice: ((sentence: string) => void) | undefined,
): Keeper {
  const causes = new Set<string>();
  const early = new Set<string>();
  const others = (): ReadonlySet<string> =>
    new Set((corpus?.saved(property) ?? []).flatMap((saved) => (isOwn(saved, owner) ? [] : [saved.id])));
  const save = (failure: Failure): string | undefined => {
    // It is there already, and its owner's.
    if (corpus === undefined || others().has(failure.caseId)) return undefined;
    const complaint = corpus.save(savedCase(property, failure, owner));
    if (complaint !== undefined) onNotice?.(complaint);
    return complaint;
  };
  return {
    first(cause, drawn) {
      if (corpus === undefined || causes.has(cause)) return;
      causes.add(cause);
      const failure = drawn();
      const isThere = corpus.saved(property).some(({ id }) => id === failure.caseId);
      if (!isThere && save(failure) === undefined) early.add(failure.caseId);
    },
    last(failures) {
      const told = failures.map(
        (failure): Failure => (save(failure) === undefined ? failure : { ...failure, unsaved: true }),
      );
      // What a smaller case has not replaced on the disk stays.
      if (told.some(({ unsaved }) => unsaved)) return told;
      for (const id of early) if (told.every(({ caseId }) => caseId !== id)) corpus?.remove(id);
      return told;
    },
    holds(saved) {
      if (!isOwn(saved, owner)) return false;
      corpus?.remove(saved.id);
      return true;
    },
  };
}

/** Found on this trainer: the same names, and the same words after its program, whose path differs between machines. */
function isOwn(saved: SavedCase, owner: Owner): boolean {
  // A case that somebody wrote may name no trainer.
  const same = (one: string | undefined, other: string | undefined): boolean =>
    one === undefined || other === undefined || one === other;
  return (
    same(saved.trainer, owner.trainer) &&
    same(saved.name, owner.name) &&
    same(argumentsOf(saved.command), argumentsOf(owner.command))
  );
}

function argumentsOf(command: string | undefined): string | undefined {
  const behind = command?.indexOf(' ') ?? -1;
  return behind < 0 ? command : command?.slice(behind);
}
