// What a relation is: the last part of an id, a sentence, and a check that knows its op by its axes alone.
import type { Args, Op } from '../../protocol/message.ts';
import type { Level } from '../../vocabulary.ts';
import type { Finding, Need, Subject } from '../property.ts';
import type { Observed } from './compare.ts';

export type Relation =
  | 'finite'
  | 'row-order'
  | 'padding'
  | 'masked-values'
  | 'nan-under-the-mask'
  | 'nan-shows'
  | 'untrained'
  | 'batch-mates'
  | 'micro-batches'
  | 'many-micro-batches'
  | 'ranks'
  | 'same-twice'
  | 'stacked'
  | 'long'
  | 'inputs'
  | 'renamed-ids';

export interface Rule {
  /** Last part of the id. */
  readonly id: string;
  readonly title: (noun: string) => string;
  readonly why: string;
  readonly level: Level;
  readonly needs?: (op: Op) => Need;
  /** Whether a request can say anything; others are drawn again, as far as they are. */
  readonly applies?: <O extends Op>(op: O, args: Args<O>) => boolean;
  /** Where one is as much work as many of another. */
  readonly mostCases?: number;
  readonly check: <O extends Op>(asked: Asked<O>) => Promise<Finding | undefined>;
}

export interface Asked<O extends Op> {
  readonly subject: Subject;
  readonly op: O;
  readonly args: Args<O>;
  readonly ask: (args: Args<O>) => Promise<Observed>;
  readonly terms: number | undefined;
}
