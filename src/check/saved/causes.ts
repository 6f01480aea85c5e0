// What a ready-made adapter's trainer is known to do wrong, by cause: each with the versions that do it, the line of
// their code, and the properties that fail of it. Of one trainer, by its version, they are known failures.
import { readJson } from '../../outside/file.ts';
import type { Hello } from '../../protocol/message.ts';
import { isJsonObject } from '../../protocol/result.ts';
import { isBefore } from '../../protocol/versions.ts';
import type { Semantics } from '../../vocabulary.ts';
import { type KnownFailure, type KnownFailures, together } from './known.ts';

export interface Cause {
  readonly reason: string;
  readonly link?: string;
  /** From the first on, and before the second; null: from the beginning, to this day. */
  readonly versions: readonly [string | null, string | null];
  /** Only where the trainer declares these, of a list any one: a setting of it. Elsewhere a failure is no known one. */
  readonly declared?: Readonly<Record<string, unknown>>;
  /** Only where generation ends at so many ids at least. */
  readonly stops?: number;
  /** Where in the code, in the versions that it was read in. */
  readonly line: string;
  /** Its report in docs/trainers/findings, where the newest version has it: `trl/entropy`. */
  readonly finding?: string;
  readonly failures: Readonly<Record<string, Pick<KnownFailure, 'kind' | 'kinds' | 'given'>>>;
}

/** The file comes with the package: a test reads every one of them. */
export function readCauses(
  path: string,
): { readonly causes: readonly Cause[] } | { readonly problem: string } {
  const read = readJson(path);
  if ('complaint' in read) return { problem: `${path} cannot be read as JSON: ${read.complaint}` };
  if (!Array.isArray(read.ok) || !read.ok.every(isCause))
    return { problem: `${path} must hold a list of causes.` };
  return { causes: read.ok };
}

function isCause(value: unknown): value is Cause {
  if (!isJsonObject(value)) return false;
  const { reason, versions, declared, stops, line, failures } = value;
  return (
    typeof reason === 'string' &&
    typeof line === 'string' &&
    (declared === undefined || isJsonObject(declared)) &&
    (stops === undefined || typeof stops === 'number') &&
    Array.isArray(versions) &&
    versions.length === 2 &&
    versions.every((end) => end === null || typeof end === 'string') &&
    isJsonObject(failures)
  );
}

/** Those of a trainer's version and settings, by property; of a version that is not told, all. Several causes of one failure are one entry. */
export function knownOf(
  causes: readonly Cause[],
  { version, semantics = {}, tokens }: Pick<Hello, 'semantics' | 'tokens' | 'version'>,
): KnownFailures {
  const known = new Map<string, KnownFailure[]>();
  for (const { reason, link, versions, declared = {}, stops = 0, line, failures } of causes) {
    const [from, before] = versions;
    if (version !== undefined && from !== null && isBefore(version, from)) continue;
    if (version !== undefined && before !== null && !isBefore(version, before)) continue;
    if (!Object.entries(declared).every(([name, value]) => says(semantics, name, value))) continue;
    if (tokens !== undefined && tokens.eos_token_ids.length < stops) continue;
    for (const [id, failure] of Object.entries(failures)) {
      const told = { reason: `${reason} (${line})`, ...(link === undefined ? {} : { link }) };
      known.set(id, [...(known.get(id) ?? []), { ...told, ...failure, bundled: true }]);
    }
  }
  return Object.fromEntries([...known].map(([id, all]) => [id, together(all) as KnownFailure]));
}

function says(semantics: Semantics, name: string, value: unknown): boolean {
  const said: unknown = semantics[name as keyof Semantics];
  const all = Array.isArray(said) ? said : [said];
  return (Array.isArray(value) ? value : [value]).some((each) => all.includes(each));
}
