// The bundled faulty trainers, as they describe themselves.
import { parseStrict } from '../../outside/json.ts';
import { startChild } from '../../trainer/child.ts';
import { PYTHON_FOLDER } from '../../version.ts';
import { isProblem, type Problem } from '../context.ts';

export interface FaultyTrainer {
  readonly name: string;
  readonly title: string;
  readonly story: string;
  /** Ids, stages or globs of the properties that are expected to catch it. */
  readonly property_hint: string;
}

export const FAULTY_MODULE = 'lossproof.examples.faulty';

/** Asks `python -m lossproof.examples.faulty --list`. */
export async function faultyTrainers(python: string): Promise<readonly FaultyTrainer[] | Problem> {
  const chunks: Buffer[] = [];
  const child = startChild(
    { command: [python, '-m', FAULTY_MODULE, '--list'], cwd: PYTHON_FOLDER },
    (chunk) => chunks.push(chunk),
  );
  child.endInput();
  const exit = await child.exited;
  const list = read(Buffer.concat(chunks).toString('utf8'));
  if (!isProblem(list)) return list;
  const how = exit.spawnError ?? exit.signal ?? `exit code ${exit.exitCode ?? 0}`;
  const last = child.stderrTail().trim().split('\n').at(-1) ?? '';
  return {
    problem: `${python} cannot list the bundled trainers (${how}${last === '' ? '' : `: ${last}`}); --python names another`,
  };
}

function read(text: string): readonly FaultyTrainer[] | Problem {
  const parsed = parseStrict(text);
  const value = 'ok' in parsed ? parsed.ok : undefined;
  if (Array.isArray(value) && value.length > 0 && value.every(isFaulty)) return value;
  return { problem: 'no list' };
}

function isFaulty(value: unknown): value is FaultyTrainer {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Record<string, unknown>;
  return ['name', 'title', 'story', 'property_hint'].every((key) => typeof record[key] === 'string');
}
