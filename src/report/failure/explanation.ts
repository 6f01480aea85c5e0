// What there is to say of a property or a bug beyond one failure: the page that a failure leads to, as data. `explain`
// prints it, and the site makes its pages of it.
import { type Bug, bugs, bugsOf, threadUrl } from '../../bugs/index.ts';
import type { PropertyFacts } from '../../check/events.ts';
import { coverageOf } from '../../check/labels.ts';
import { PRACTICE } from '../../check/profile/practice.ts';
import type { Coverage, Property, Stage, World } from '../../check/property.ts';
import type { MonitorRule } from '../../monitor/rule.ts';
import { type Op, PROTOCOL } from '../../protocol/message.ts';
import type { Choice } from '../../vocabulary/choice.ts';
import { CHOICES, choiceNames } from '../../vocabulary/choices.ts';
import type { Level } from '../../vocabulary.ts';
import { ruleFacts } from '../monitor/rule.ts';

export interface Thread {
  /** `owner/repo#123` or `owner/repo@abc1234`. */
  readonly thread: string;
  readonly url: string;
}

export interface BugExplanation {
  readonly id: string;
  readonly what: string;
  readonly todo: string;
  readonly seen: readonly Thread[];
  readonly unshown?: string;
  /** Ids of the properties that catch it. */
  readonly caughtBy: readonly string[];
}

export interface PropertyExplanation {
  readonly id: string;
  readonly title: string;
  readonly level: Level;
  readonly stage: Stage;
  readonly why: string;
  readonly ops: readonly Op[];
  /** Label to the least share of judged cases that must have it, for a trainer that declares nothing. */
  readonly coverage: Coverage;
  /** Sentences, each a reason for which it does not judge a trainer that has the ops. */
  readonly exceptions: readonly string[];
  readonly bugs: readonly BugExplanation[];
  /** What to do, of a rule about logs. */
  readonly advice?: string;
  /** What a rule about logs asks for, and its settings, a line each. */
  readonly asks?: readonly string[];
  /** Runs this property alone. */
  readonly command: string;
}

/** A thing that correct trainers decide differently: what `check` measures, and what it asks about. */
export interface ChoiceExplanation {
  /** The key under `semantics`. */
  readonly id: string;
  readonly says: string;
  /** A kind (`number`), or each value that there is. */
  readonly values: string | readonly (string | number)[];
  readonly ops: readonly string[];
  readonly usual?: string | number | boolean | null;
  /** Values outside of what public trainers and papers do, with the reason. */
  readonly questioned: readonly { readonly value: string; readonly why: string; readonly source: string }[];
}

/** undefined: no choice is called so. `loss/clip_low` as well, as a run names what it asks about. */
export function explainChoice(name: string): ChoiceExplanation | undefined {
  const id = choiceNames.find((each) => each === name.slice(name.lastIndexOf('/') + 1));
  if (id === undefined) return undefined;
  const { says, values, ops, usual }: Choice & { readonly ops: readonly string[] } = CHOICES[id];
  return {
    id,
    says,
    values,
    ops,
    ...(usual === undefined ? {} : { usual }),
    questioned: PRACTICE.filter(({ item }) => item === id).map(({ beyond, why, source }) => ({
      value: beyond,
      why,
      source,
    })),
  };
}

export const CHOICE_NAMES: readonly string[] = choiceNames;

export function explainProperty(property: Property, properties: readonly Property[]): PropertyExplanation {
  const { id, title, level, stage, why, ops, catches } = property;
  return {
    id,
    title,
    level,
    stage,
    why,
    ops,
    coverage: coverageOf(property, bareWorld(ops)),
    exceptions: exceptionsOf(property),
    bugs: bugsOf(catches).map((bug) => explainBug(bug, properties)),
    command: `npx lossproof check --only ${id}`,
  };
}

/** One that a traced script alone is held to: it asks nothing, and is read off the gradient. */
export function explainTraced(
  { id, title, level, stage, why, catches }: PropertyFacts,
  properties: readonly Property[],
): PropertyExplanation {
  return {
    id,
    title,
    level,
    stage,
    why,
    ops: [],
    coverage: {},
    exceptions: [],
    bugs: bugsOf(catches).map((bug) => explainBug(bug, properties)),
    command: `npx lossproof trace --only ${id} -- python train.py`,
  };
}

/** One that the logs of a run are held to. */
export function explainMonitored(rule: MonitorRule, properties: readonly Property[]): PropertyExplanation {
  return {
    ...explainTraced(rule, properties),
    advice: rule.advice,
    asks: ruleFacts(rule),
    command: `npx lossproof monitor --only ${rule.id} runs/`,
  };
}

export function explainBug(
  { id, what, todo, seen, unshown }: Bug,
  properties: readonly Property[],
): BugExplanation {
  return {
    id,
    what,
    todo,
    seen: seen.map((thread) => ({ thread, url: threadUrl(thread) })),
    ...(unshown === undefined ? {} : { unshown }),
    caughtBy: properties.filter(({ catches }) => catches.includes(id)).map((property) => property.id),
  };
}

export const BUG_IDS: readonly string[] = bugs.map(({ id }) => id);

/**
 * What the needs of a property say to a trainer that has its ops and declares nothing, and to one whose special ids
 * are fixed: between them they say every condition that a property has.
 */
function exceptionsOf({ needs = [], ops }: Property): string[] {
  const bare = bareWorld(ops);
  const fixed: World = {
    ...bare,
    hello: { ...bare.hello, tokens: { vocab_size: 32, pad_token_id: 0, eos_token_ids: [2] } },
  };
  return [...new Set(needs.flatMap((need) => [bare, fixed].map(need)).filter((said) => said !== undefined))];
}

/** Of a trainer that has these ops and declares nothing. */
function bareWorld(ops: readonly Op[]): World {
  return {
    hello: { protocol: PROTOCOL, name: 'any', ops: Object.fromEntries(ops.map((op) => [op, {}])) },
    semantics: {},
    tokenizer: undefined,
  };
}
