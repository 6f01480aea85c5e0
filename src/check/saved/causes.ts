// What a ready-made adapter's trainer is known to do wrong, by cause: each with the versions that do it, the line of
// their code, and the properties that fail of it. Of one trainer, by its version, they are known failures.
import { readJson } from '../../outside/file.ts';
import type { Hello } from '../../protocol/message.ts';
import { isJsonObject } from '../../protocol/result.ts';
import { isBefore } from '../../protocol/versions.ts';
import type { Semantics, Tokens } from '../../vocabulary.ts';
import { type KnownFailure, type KnownFailures, together } from './known.ts';

export interface Cause {
  readonly reason: string;
  readonly link?: string;
  /** From the first on, and before the second; null: from the beginning, to this day. */
  readonly versions: readonly [string | null, string | null];
  /** Only where the trainer declares these, of a list any one: a setting of it. Elsewhere a failure is no known one. */
  readonly declared?: Readonly<Record<string, unknown>>;
  /** Only where these variables are set so, of a list any one: settings of the adapter that change nothing that it declares. */
  readonly environment?: Readonly<Record<string, string | readonly string[]>>;
  /** Only where the tokenizer has a BOS. */
  readonly bos?: true;
  /**
   * Those of its cases. Another trainer's own stand in their place; where it has fewer stop ids, it has not the cause: a failure is no
   * known one.
   */
  readonly tokens?: Pick<Tokens, 'eos_token_ids' | 'pad_token_id'>;
  /** Where in the code, in the versions that it was read in. */
  readonly line: string;
  /** Its report in docs/trainers/findings, where the newest version has it: `trl/entropy`. */
  readonly finding?: string;
  readonly failures: Readonly<Record<string, Pick<KnownFailure, 'kind' | 'kinds' | 'labels' | 'given'>>>;
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
  const { reason, versions, declared, environment, tokens, line, failures } = value;
  return (
    typeof reason === 'string' &&
    typeof line === 'string' &&
    (declared === undefined || isJsonObject(declared)) &&
    (environment === undefined || isJsonObject(environment)) &&
    (tokens === undefined || isJsonObject(tokens)) &&
    Array.isArray(versions) &&
    versions.length === 2 &&
    versions.every((end) => end === null || typeof end === 'string') &&
    isJsonObject(failures)
  );
}

/** Those of a trainer's version and settings, by property, `variables` of its environment included; of a version that is not told, all. Several causes of one failure are one entry. */
export function knownOf(
  causes: readonly Cause[],
  { version, semantics = {}, tokens: own }: Pick<Hello, 'semantics' | 'tokens' | 'version'>,
  variables: Readonly<Record<string, string | undefined>> = {},
): KnownFailures {
  const known = new Map<string, KnownFailure[]>();
  for (const {
    reason,
    link,
    versions,
    declared = {},
    environment = {},
    bos,
    tokens,
    line,
    failures,
  } of causes) {
    const [from, before] = versions;
    if (version !== undefined && from !== null && isBefore(version, from)) continue;
    if (version !== undefined && before !== null && !isBefore(version, before)) continue;
    if (!Object.entries(declared).every(([name, value]) => says(semantics, name, value))) continue;
    if (!Object.entries(environment).every(([name, value]) => [value].flat().includes(variables[name] ?? '')))
      continue;
    if (bos === true && own?.bos_token_id === undefined) continue;
    const places = placesOf(tokens, own);
    if (places === undefined) continue;
    for (const [id, failure] of Object.entries(failures)) {
      const told = { reason: `${reason} (${line})`, ...(link === undefined ? {} : { link }) };
      const given = failure.given === undefined ? {} : { given: withIds(failure.given, places) };
      known.set(id, [...(known.get(id) ?? []), { ...told, ...failure, ...given, bundled: true }]);
    }
  }
  return Object.fromEntries([...known].map(([id, all]) => [id, together(all) as KnownFailure]));
}

/** Which of the trainer's own ids stands for which of a case; undefined: some have no counterpart. */
function placesOf(recorded: Cause['tokens'], own: Hello['tokens']): ReadonlyMap<number, number> | undefined {
  if (recorded === undefined || own === undefined) return new Map();
  if (own.eos_token_ids.length < recorded.eos_token_ids.length) return undefined;
  return new Map([
    [recorded.pad_token_id, own.pad_token_id],
    ...recorded.eos_token_ids.map((id, at) => [id, own.eos_token_ids[at] ?? id] as const),
  ]);
}

/** All numbers of the cases of such a cause are ids. */
function withIds(given: unknown, places: ReadonlyMap<number, number>): unknown {
  if (typeof given === 'number') return places.get(given) ?? given;
  if (Array.isArray(given)) return given.map((each) => withIds(each, places));
  if (!isJsonObject(given)) return given;
  return Object.fromEntries(Object.entries(given).map(([name, each]) => [name, withIds(each, places)]));
}

function says(semantics: Semantics, name: string, value: unknown): boolean {
  const said: unknown = semantics[name as keyof Semantics];
  const all = Array.isArray(said) ? said : [said];
  return (Array.isArray(value) ? value : [value]).some((each) => all.includes(each));
}
