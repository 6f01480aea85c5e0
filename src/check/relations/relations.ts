// The strongest checks need no formula: an answer must not change with what does not matter. Each relation is written
// once, and asks the axes of an op (protocol/axes.ts) what its fields mean.
import type fc from 'fast-check';
import { redrawn } from '../../generators/redrawn.ts';
import type { Relation } from '../../protocol/axes.ts';
import type { Args, Ok, Op } from '../../protocol/message.ts';
import type { Level } from '../../vocabulary.ts';
import type { Need, Property, Stage, Subject, World } from '../property.ts';
import { isOfUse } from '../subject.ts';
import type { Observed } from './compare.ts';
import { RELATIONS, relationsOf } from './matrix.ts';
import type { Invariance } from './rule.ts';
import { RULES } from './rules.ts';
import { unchanged } from './together.ts';
import { asAsked } from './transform.ts';

/** What a family of properties is about: an op, and the requests to ask of it. */
export interface Related<O extends Op, Case> {
  readonly op: O;
  readonly stage: Stage;
  /** Begins the ids: `loss/`, `advantages/whitening-`. Default: the stage and a slash. */
  readonly prefix?: string;
  /** What the answer is, as a sentence begins: "The KL". Default: "The answer". */
  readonly noun?: string;
  readonly given: (world: World) => fc.Arbitrary<Case>;
  readonly args: (given: Case, subject: Subject) => Args<O>;
  readonly labels?: Property<Case>['labels'];
  readonly coverage?: Property<Case>['coverage'];
  readonly mayRefuse?: Property<Case>['mayRefuse'];
  readonly needs?: readonly Need[];
  readonly mostCases?: number;
  /** Length of the longest sum behind a number, where it is not the size of the mask: a model's layers, say. */
  readonly terms?: number;
  /** Asks the trainer; default: `subject.ask`. */
  readonly ask?: (subject: Subject, args: Args<O>) => Promise<Ok<O>>;
  /** What of the answer is compared; default: all of its fields. */
  readonly observe?: (subject: Subject, args: Args<O>) => Promise<Observed>;
  /** What is particular about relations here. Without `allBut`, these are the relations that are asked. */
  readonly relations?: { readonly [R in Relation]?: Particulars };
  /** Asks every relation of the op (matrix.ts) but these, which other cases judge. */
  readonly allBut?: readonly Relation[];
}

export interface Particulars {
  readonly catches?: readonly string[];
  readonly level?: Level;
  readonly why?: string;
  readonly needs?: readonly Need[];
}

/** A property for each relation that is asked, in the order of RULES. */
export function relations<O extends Op, Case>(related: Related<O, Case>): readonly Property<Case>[] {
  const { op, stage, given, labels, coverage, mayRefuse, needs = [], noun = 'The answer' } = related;
  const observe =
    related.observe ??
    (async (subject: Subject, args: Args<O>): Promise<Observed> => ({
      fields: asAsked(op, args, await (related.ask?.(subject, args) ?? subject.ask(op, args))),
    }));
  return particularsOf(related).map(([name, particulars]): Property<Case> => {
    const rule = RULES[name];
    const limits = [rule.mostCases, related.mostCases].filter((most) => most !== undefined);
    const mostCases = limits.length === 0 ? undefined : Math.min(...limits);
    return {
      id: `${related.prefix ?? `${stage}/`}${rule.id}`,
      title: rule.title(noun),
      stage,
      level: particulars.level ?? rule.level,
      why: particulars.why ?? rule.why,
      catches: particulars.catches ?? rule.catches ?? [],
      ops: [op],
      needs: [...needs, ...(rule.needs === undefined ? [] : [rule.needs(op)]), ...(particulars.needs ?? [])],
      given: (world) =>
        redrawn(given(world), (drawn) =>
          // What the request is made of is all there: only a model, or an answer, would be missing.
          isOfUse(() => rule.applies?.(op, related.args(drawn, world as Subject)) ?? true),
        ),
      ...(mostCases === undefined ? {} : { mostCases }),
      ...(labels === undefined ? {} : { labels }),
      ...(coverage === undefined ? {} : { coverage }),
      ...(mayRefuse === undefined ? {} : { mayRefuse }),
      check: (subject, drawn) => {
        const question = {
          subject,
          op,
          args: related.args(drawn, subject),
          ask: (args: Args<O>) => observe(subject, args),
          askAnew: (args: Args<O>) => observe({ ...subject, ...subject.anew }, args),
          terms: related.terms,
        };
        return rule.change === undefined
          ? rule.check(question)
          : unchanged(rule, question, askedTogether(related, subject));
      },
    };
  });
}

/** The relations that are asked, each with what is particular about it. */
function particularsOf<O extends Op, Case>({
  op,
  relations = {},
  allBut,
}: Related<O, Case>): readonly (readonly [Relation, Particulars])[] {
  const asked =
    allBut === undefined
      ? RELATIONS.filter((name) => relations[name] !== undefined)
      : relationsOf(op).filter((name) => !allBut.includes(name));
  return asked.map((name) => [name, relations[name] ?? {}]);
}

/** Those of them that are a change, and that this trainer can be asked about. */
function askedTogether<O extends Op, Case>(related: Related<O, Case>, world: World): readonly Invariance[] {
  return particularsOf(related).flatMap(([name, { needs = [] }]) => {
    const rule = RULES[name];
    if (rule.change === undefined) return [];
    return [rule.needs?.(related.op), ...needs].some((need) => need?.(world) !== undefined) ? [] : [rule];
  });
}
