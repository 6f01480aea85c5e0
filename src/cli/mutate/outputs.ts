// What a run of `mutate` writes for others: one JSON object, and the page.
import { resolve } from 'node:path';
import type { Mutation } from '../../mutate/events.ts';
import { mutationJson } from '../../report/mutate/json.ts';
import { type Context, type Problem, sayDocument } from '../context.ts';
import { unwritable, writeWhole } from '../outputs/written.ts';
import { asTyped } from '../typed.ts';
import type { MutateOptions } from './options.ts';

const STDOUT = '-';

type Files = Pick<MutateOptions, 'json' | 'html'>;

/** Before anything is started. */
export function writable({ json, html }: Files, { cwd }: Context): Problem | undefined {
  for (const [option, file] of [
    ['--json', json],
    ['--html', html],
  ] as const) {
    const why =
      file === undefined || (option === '--json' && file === STDOUT)
        ? undefined
        : unwritable(resolve(cwd, file));
    if (why !== undefined) return { problem: `${option}: ${file} ${why}` };
  }
  return undefined;
}

export async function writeOutputs(
  mutation: Mutation,
  { json, html }: Files,
  context: Context,
): Promise<Problem | undefined> {
  if (json === STDOUT) sayDocument(context, mutationJson(mutation));
  else if (json !== undefined) {
    const why = writeWhole(resolve(context.cwd, json), `${mutationJson(mutation)}\n`);
    if (why !== undefined) return { problem: `--json: ${json} ${why}` };
  }
  if (html !== undefined) {
    const { mutatePage } = await import('../../report/html/mutate/mutate.ts');
    const why = writeWhole(resolve(context.cwd, html), asTyped(mutatePage(mutation)));
    if (why !== undefined) return { problem: `--html: ${html} ${why}` };
  }
  return undefined;
}
