// Puts golden cases to a trainer: what it says to each, or why it says nothing.
import type { World } from '../check/property.ts';
import { NO_OP } from '../check/support.ts';
import type { Args, Op } from '../protocol/message.ts';
import type { TrainerFailure } from '../trainer/failure.ts';
import type { Trainer } from '../trainer/trainer.ts';
import type { GoldenCase } from './case.ts';
import type { Fields, Said } from './entry.ts';

export type Reply =
  | { readonly kind: 'said'; readonly said: Said; readonly args: Fields }
  | { readonly kind: 'failure'; readonly failure: TrainerFailure; readonly args: Fields }
  /** It cannot be asked: a sentence without its full stop. */
  | { readonly kind: 'unasked'; readonly why: string };

export async function askCase(trainer: Trainer, world: World, { op, given }: GoldenCase): Promise<Reply> {
  if (trainer.hello.ops[op] === undefined) return { kind: 'unasked', why: `${NO_OP}\`${op}\`` };
  const args = given(world);
  if (typeof args === 'string') return { kind: 'unasked', why: args };
  const outcome = await trainer.ask(op, args as Args<Op>);
  const asked = args as Fields;
  switch (outcome.kind) {
    case 'ok':
      return { kind: 'said', said: { kind: 'answer', fields: outcome.ok as Fields }, args: asked };
    case 'reject':
      return { kind: 'said', said: { kind: 'refused', why: outcome.why }, args: asked };
    case 'skip':
      return { kind: 'said', said: { kind: 'skipped', why: outcome.why }, args: asked };
    case 'failure':
      return { kind: 'failure', failure: outcome.failure, args: asked };
  }
}

/** Requests on their way at once: a window of the pipe holds more, and Ctrl-C waits for no more than these. */
const IN_FLIGHT = 8;

/** The replies in order, as they come; ends where `signal` says so. */
export async function* askAll(
  trainer: Trainer,
  world: World,
  cases: readonly GoldenCase[],
  signal?: AbortSignal,
): AsyncGenerator<readonly [GoldenCase, Reply]> {
  const flying: (readonly [GoldenCase, Promise<Reply>])[] = [];
  let next = 0;
  while (next < cases.length || flying.length > 0) {
    while (flying.length < IN_FLIGHT && next < cases.length && signal?.aborted !== true) {
      const each = cases[next++];
      if (each !== undefined) flying.push([each, askCase(trainer, world, each)]);
    }
    const first = flying.shift();
    if (first === undefined) return;
    const reply = await first[1];
    // The run was ended before it answered.
    if (reply.kind === 'failure' && reply.failure.kind === 'stopped') return;
    yield [first[0], reply];
  }
}
