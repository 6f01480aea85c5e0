// What a rule over logs is: data, like a property. It sees points as they come and remembers no more than a window, so
// that it judges a finished log and a running job alike.
import type { PropertyFacts } from '../check/events.ts';
import type { BaselineRuns } from './beside/beside.ts';
import type { Course } from './history/curve.ts';
import type { Sample, Series, SeriesRole } from './series.ts';

export type SettingValue = number | string | boolean;

/** One setting of a rule, with what a user may say with `--set RULE.NAME=VALUE` or in the configuration. */
export interface Setting {
  readonly default: SettingValue;
  /** What it means, with its unit. */
  readonly what: string;
}

export interface MonitorRule extends PropertyFacts {
  /** What to do when it fails: one or two sentences. */
  readonly advice: string;
  /** What it must see at least one of; empty: every series. Samples are asked for by `samples`. */
  readonly roles: readonly SeriesRole[];
  /** Evaluations of these roles are asked for as well. */
  readonly evaluations?: true;
  /** It judges samples of rollouts. */
  readonly samples?: true;
  /** It judges beside runs that are held to be healthy, and is left out where none is named. */
  readonly baseline?: true;
  readonly settings: Readonly<Record<string, Setting>>;
  /** A fresh watch for one run. */
  readonly watch: (world: RuleWorld) => Watch;
}

/** What a rule may know of the run that it watches. */
export interface RuleWorld {
  readonly run: string;
  /** The rule's settings: what the user said, else the preset, else the default. */
  readonly setting: (name: string) => SettingValue;
  /** What the run says of itself (`max_completion_length`), or the user of the run; asked when needed, since it may come late. */
  readonly declared: (name: string) => SettingValue | undefined;
  /** Every series that was seen so far in this run; it only grows. */
  readonly series: () => readonly Series[];
  /** What was logged of a series so far; undefined where there were too many series to keep the course of each. */
  readonly courseOf: (series: Series) => Course | undefined;
  /** Runs that are held to be healthy, where the user named some. */
  readonly baseline?: BaselineRuns;
  /** Of the run, where the user named one: for rules about the ids of samples. */
  readonly tokens?: SampleTokens;
}

/** What rules about samples may ask of the tokenizer. */
export interface SampleTokens {
  readonly encode: (text: string) => readonly number[];
  readonly decode: (ids: readonly number[]) => string;
  readonly textOf: (id: number) => string;
  readonly stopIds: readonly number[];
  readonly padId?: number;
  readonly bosId?: number;
  /** Spellings of the special tokens. */
  readonly specials: readonly string[];
  /** Texts that open a message in this template: `<|im_start|>assistant`. */
  readonly headers: readonly string[];
}

/** One thing that is wrong. */
export interface Violation {
  /** Short and stable. */
  readonly kind: string;
  /** What happened, with series, step and value. */
  readonly sentence: string;
  /** The series and step of the first point that breaks the rule. */
  readonly series?: Series;
  readonly step?: number;
  readonly value?: number;
  /** What was allowed there. */
  readonly low?: number;
  readonly high?: number;
  /** The sample that breaks it, and which tokens of its completion: [from, to) in ids, else in characters. */
  readonly sample?: Sample;
  readonly marks?: readonly (readonly [number, number])[];
}

export interface Watch {
  /** Points of the series with the rule's roles, of evaluation series only where the rule asks for them or has no roles. */
  point?(series: Series, step: number, value: number, time: number): Violation | undefined;
  sample?(sample: Sample): Violation | undefined;
  /** The log is at its end, or nobody will write it further. */
  end?(): Violation | readonly Violation[] | undefined;
  /** Points, steps or samples that were judged; 0: the rule says nothing, `why` says why. */
  judged(): number;
  /** Why nothing was judged although its series are there: `fewer than 20 steps`. */
  why?(): string | undefined;
  /** What is odd and may be meant: sentences beside the verdict, which fail nothing. Asked at any time, and more than once. */
  remarks?(): readonly string[];
  /** What is allowed at this point of a series, for the plot; asked after `point` of it. */
  band?(series: Series): { readonly low: number; readonly high: number } | undefined;
}
