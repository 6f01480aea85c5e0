import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeWorld, type World, type WorldOptions } from '../world.ts';

export const RUN = 'läuft 1';

export const KL = ['--only', 'kl-spike,finite-training'];

/** Lines of a healthy run, one a step; `change` makes one of them ill. */
export function lines(from: number, to: number, change: (step: number) => object = () => ({})): string {
  const rows = Array.from({ length: to - from + 1 }, (_, at) => {
    const step = from + at;
    const wave = Math.sin(step * 12.9898) * 0.01;
    return {
      step,
      loss: 0.5 + 20 * wave,
      kl: 0.05 + wave,
      reward: 0.4 + wave * step,
      grad_norm: 1 + wave,
      'my/number': step,
      ...change(step),
    };
  });
  return rows
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('')
    .replaceAll('"NaN"', 'NaN');
}

export const jump = (step: number): object => (step > 40 ? { kl: 5 } : {});

export function loggedWorld(text: string, options: WorldOptions = {}): World & { readonly file: string } {
  const world = makeWorld([], options);
  mkdirSync(join(world.folder, RUN));
  const file = join(world.folder, RUN, 'metrics.jsonl');
  if (text !== '') writeFileSync(file, text);
  return { ...world, file };
}
