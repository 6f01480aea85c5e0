// What a relation is: the last part of an id, a sentence, and a check that knows its op by its axes alone.
import type { Args, Op } from '../../protocol/message.ts';
import type { Level } from '../../vocabulary.ts';
import type { Finding, Need, Subject } from '../property.ts';
import type { Observed } from './compare.ts';
import type { Signature } from './fit.ts';
import { fieldAlong } from './transform.ts';

interface RuleFacts {
  /** Last part of the id. */
  readonly id: string;
  readonly title: (noun: string) => string;
  readonly why: string;
  readonly level: Level;
  /** Rows of the catalogue that it finds, where a family says nothing else. */
  readonly catches?: readonly string[];
  /** Why it cannot be asked of an op that takes and answers this; `undefined`, or no function: it fits. */
  readonly unfit?: (signature: Signature) => string | undefined;
  readonly needs?: (op: Op) => Need;
  /** Whether a request can say anything; others are drawn again, as far as they are. */
  readonly applies?: <O extends Op>(op: O, args: Args<O>) => boolean;
  /** Where one is as much work as many of another. */
  readonly mostCases?: number;
}

/** A rule is a change that must not matter (together.ts), or a check of its own. */
export type Rule = Invariance | (RuleFacts & { readonly check: Check; readonly change?: never });

export type Check = <O extends Op>(asked: Asked<O>) => Promise<Finding | undefined>;

export interface Invariance extends RuleFacts {
  /** `args` changed, or why they cannot be; `given` is the whole request, with the partitions that `args` lack. */
  readonly change: <O extends Op>(op: O, args: Args<O>, given: Args<O>) => Changed<O> | string;
  /** The change leaves rows out. */
  readonly leavesOut?: true;
  /** The same question in more requests, each of which tells more; default: the change alone. */
  readonly alone?: Check;
}

/** Cases of a relation that shows what it shows in nearly every batch, and whose requests no other property asks. */
export const FEW_CASES = 25;

export type Cause = (before: Observed, after: Observed) => string | undefined;

export interface Change {
  readonly when: string;
  readonly place?: ReadonlyMap<number, number>;
  readonly shift?: number;
  readonly batch?: boolean;
  /** What both answers together tell of the cause, and what to do about it. */
  readonly cause?: Cause;
}

/** A request changed in a way that must not matter, and where its rows and columns are. */
export interface Changed<O extends Op> extends Change {
  readonly args: Args<O>;
}

/** Varies from request to request, as a number at random does. */
export function sizeOf<O extends Op>(op: O, args: Args<O>): number {
  return JSON.stringify(fieldAlong(op, args, 'row') ?? fieldAlong(op, args, 'mask') ?? 0).length;
}

export interface Asked<O extends Op> {
  readonly subject: Subject;
  readonly op: O;
  readonly args: Args<O>;
  readonly ask: (args: Args<O>) => Promise<Observed>;
  /** Sends the request although it was answered before. */
  readonly askAnew: (args: Args<O>) => Promise<Observed>;
  readonly terms: number | undefined;
}
