// The row kernel of a run: which backend computes the reference at a real vocabulary. Chosen when a check first needs it,
// since looking for a GPU takes longer than most checks.
import { type BackendName, type Chosen, chooseKernel } from '../kernel/index.ts';

/** Before the first check; a backend that was asked for and cannot be had is a problem, said at once. */
export async function useBackend(
  backend: BackendName | 'auto',
): Promise<{ readonly problem: string } | undefined> {
  wanted = backend;
  chosen = undefined;
  asked = false;
  if (backend === 'auto') return undefined;
  const opened = await chooseKernel(backend);
  if ('problem' in opened) return opened;
  chosen = Promise.resolve(opened);
  return undefined;
}

/** The kernel, with why it is that one. */
export function rowKernel(): Promise<Chosen> {
  asked = true;
  chosen ??= chooseKernel(wanted).then((opened) => {
    // `auto` ends at the CPU, which is always there.
    if ('problem' in opened) throw new Error(opened.problem);
    return opened;
  });
  return chosen;
}

/** What was chosen, in a sentence; undefined where nothing needed it and nobody named it. */
export async function backendSentence(): Promise<string | undefined> {
  const why = (await chosen)?.why;
  if (why === undefined) return undefined;
  return asked
    ? `real vocabularies computed by ${why}`
    : `no property computed a real vocabulary; it would have been by ${why}`;
}

/** Ends its threads, or frees the device. */
export async function closeKernel(): Promise<void> {
  const opened = await chosen;
  chosen = undefined;
  await opened?.kernel.close();
}

// --- helpers ---

let wanted: BackendName | 'auto' = 'auto';
let chosen: Promise<Chosen> | undefined;
let asked = false;
