// A rendering of a chat template that cannot take the machine: values have a greatest size, all of them together, too, and
// a range has the length that Jinja's own sandbox allows. What takes long is begun again under a deadline. Without bounds
// on memory V8 ends the whole process, and no deadline helps.
import { Environment, Interpreter, Template } from '@huggingface/jinja';
import { bound } from '../../bounds.ts';
import type { Budget, Timed } from '../deadline.ts';
import { type EngineValue, extentOf, Operation, operandsOf } from './operands.ts';

/** What was parsed of a template. The engine's own declarations, here and below, do not resolve in a strict program. */
export interface Parsed {
  readonly type: string;
}

/** What is used of the engine's interpreter. */
interface Engine {
  run(parsed: Parsed): EngineValue;
  evaluate(statement: { readonly type: string } | undefined, environment: unknown): EngineValue;
}
const Plain = Interpreter as unknown as new (environment: unknown) => Engine;

/** How much the rendering is given: characters of the conversation and its tools, and messages. */
export interface InputSize {
  readonly characters: number;
  readonly messages: number;
}

/** Throws what the engine throws, and an error with a sentence where the template wants too much. */
export function renderBounded(
  parsed: Parsed,
  variables: Readonly<Record<string, unknown>>,
  size: InputSize,
  budget: Budget,
): Timed<string> {
  try {
    return { done: textOf(parsed, variables, { ...boundsOf(size), effort: LITTLE_EFFORT }) };
  } catch (error) {
    if (!(error instanceof MoreEffort)) throw error;
  }
  return budget.timed(size.characters, () => textOf(parsed, variables, boundsOf(size)));
}

interface Bounds {
  /** Characters of one text, and of all that are made. */
  readonly longest: number;
  readonly characters: number;
  /** Of all lists that are made. */
  readonly items: number;
  /** Expressions evaluated, and the extent of what each came to: no time passes without them. */
  readonly effort: number;
}

class MoreEffort extends Error {}

function boundsOf({ characters, messages }: InputSize): Bounds {
  return {
    longest: LONGEST_TEXT + LONGEST_TIMES * characters,
    characters: ALL_TEXT + ALL_TIMES * characters,
    items: ALL_ITEMS + messages * messages,
    effort: Number.POSITIVE_INFINITY,
  };
}

function textOf(parsed: Parsed, variables: Readonly<Record<string, unknown>>, bounds: Bounds): string {
  const environment = new Environment();
  for (const [name, value] of Object.entries(GLOBALS)) environment.set(name, value);
  for (const [name, value] of Object.entries(variables)) environment.set(name, value);
  return String(new Bounded(environment, bounds).run(parsed).value);
}

class Bounded extends Plain {
  private readonly longest: number;
  private characters: number;
  private items: number;
  private effort: number;
  private operation: Operation | undefined;

  constructor(environment: unknown, { longest, characters, items, effort }: Bounds) {
    super(environment);
    this.longest = longest;
    this.characters = characters;
    this.items = items;
    this.effort = effort;
  }

  override evaluate(
    ...[statement, environment]: Parameters<Engine['evaluate']>
  ): ReturnType<Engine['evaluate']> {
    const outer = this.operation;
    const operands = operandsOf(statement);
    if (operands !== undefined) this.operation = new Operation(operands);
    let result: EngineValue;
    try {
      result = super.evaluate(statement, environment);
    } finally {
      this.operation = outer;
    }
    outer?.take(statement, result);
    if (Number.isFinite(this.effort)) {
      this.effort -= extentOf(result, this.effort);
      if (this.effort < 0) throw new MoreEffort();
    }
    // What has a name was made before.
    if (statement?.type !== 'Identifier') this.weigh(result.value);
    return result;
  }

  private weigh(value: unknown): void {
    if (typeof value === 'string') {
      if (value.length <= SHORT) return;
      if (value.length > this.longest) throw new Error(`it makes a text of ${value.length} characters`);
      this.characters -= value.length;
      if (this.characters < 0) throw new Error('it makes more text than its input can need');
    } else if (Array.isArray(value)) {
      if (value.length <= SHORT) return;
      this.items -= value.length;
      if (this.items < 0) throw new Error('it makes longer lists than its input can need');
    }
  }
}

/** What nearly every rendering does with, in milliseconds: it needs no deadline, which starts a thread each time. */
const LITTLE_EFFORT = bound({
  of: 'a rendering without a watch on its time',
  steps: 50_000,
  over: 'the rendering begins again, with a watch',
});

/** Texts and lists of up to so many are not worth counting. */
const SHORT = 64;
const LONGEST_TEXT = 1_000_000;
const LONGEST_TIMES = 8;
const ALL_TEXT = bound({
  of: 'characters that a rendering makes, besides 256 for each of its input',
  steps: 16_000_000,
  over: 'the template is refused',
});
const ALL_TIMES = 256;
/** Each takes some 80 bytes. */
const ALL_ITEMS = bound({
  of: 'list items that a rendering makes, besides the square of its messages',
  steps: 4_000_000,
  over: 'the template is refused',
});
/** MAX_RANGE of jinja2.sandbox, which transformers renders in. */
const LONGEST_RANGE = 100_000;

/** As the engine sets them; its range has no end, and its strftime_now is not for others. */
const GLOBALS: Readonly<Record<string, unknown>> = {
  false: false,
  true: true,
  none: null,
  False: false,
  True: true,
  None: null,
  raise_exception: (message: string) => {
    throw new Error(message);
  },
  strftime_now: (format: string) => NOW.render({ format }),
  range: (start: number, stop?: number, step = 1) => {
    const [from, to] = stop === undefined ? [0, start] : [start, stop];
    if (step === 0) throw new Error('range() step must not be zero');
    const length = Math.max(0, Math.ceil((to - from) / step));
    if (length > LONGEST_RANGE)
      throw new Error(`range() of ${length} is longer than the ${LONGEST_RANGE} that Jinja's sandbox allows`);
    return Array.from({ length }, (_, at) => from + at * step);
  },
};

const NOW = new Template('{{ strftime_now(format) }}');
