// What one operation of a template may be given: to look for a long text in a long one, to join many items by a long
// separator or to replace each character by a long text takes time that no deadline can end, since V8 does it in one
// step, and memory that is counted only when it is spent. So the operands are looked at before.

/** A value of the engine: text, a number, a list of such, a map to such, or a function. */
export interface EngineValue {
  readonly value: unknown;
}

/** A node of a parsed template, as far as it is looked at. */
interface Node {
  readonly type?: unknown;
  readonly operator?: { readonly value?: unknown };
  readonly left?: unknown;
  readonly right?: unknown;
  readonly operand?: unknown;
  readonly filter?: Node;
  readonly callee?: Node;
  readonly object?: unknown;
  readonly property?: Node;
  /** Of an argument by its name, the value; of an identifier, its name. */
  readonly value?: unknown;
  readonly args?: readonly Node[];
}

/** The operation that a node is, where its operands count together. */
export interface Operands {
  readonly name: keyof typeof RULES;
  /** What it is applied to, and behind it the arguments. */
  readonly nodes: readonly unknown[];
}

export function operandsOf(statement: unknown): Operands | undefined {
  if (typeof statement !== 'object' || statement === null) return undefined;
  if (operands.has(statement)) return operands.get(statement);
  const found = operationOf(statement);
  operands.set(statement, found);
  return found;
}

/** An operation that is under way. */
export class Operation {
  private readonly sizes: number[] = [];
  private readonly texts: number[] = [];
  private readonly operands: Operands;

  constructor(operands: Operands) {
    this.operands = operands;
    if (operands.nodes[0] === BLOCK) this.put(0, MOST_OF_BLOCK, MOST_OF_BLOCK);
  }

  /** A value that was evaluated is one of its operands, or not; throws where they are too much, before they are put together. */
  take(node: unknown, of: EngineValue): void {
    const at = this.operands.nodes.indexOf(node);
    if (at < 0) return;
    const { value } = of;
    const text = typeof value === 'string' ? value.length : 0;
    const number = typeof value === 'number' ? Math.abs(value) : 0;
    this.put(at, Math.max(1, number, text || extentOf(of, MOST_MADE + 1)), text);
  }

  private put(at: number, size: number, text: number): void {
    this.sizes[at] = size;
    this.texts[at] = text;
    RULES[this.operands.name](this.sizes, this.texts);
  }
}

/** Characters, items and values of all that hangs on it, until they are more than `most`: what an operation on it may walk. */
export function extentOf(whole: EngineValue, most: number): number {
  let sum = 0;
  const left = [whole];
  for (let next = left.pop(); next !== undefined && sum <= most; next = left.pop()) {
    const { value } = next;
    sum += 1;
    if (typeof value === 'string') sum += value.length;
    else if (Array.isArray(value)) {
      sum += value.length;
      if (sum <= most) for (const item of value) left.push(item);
    } else if (value instanceof Map) for (const item of value.values()) left.push(item);
  }
  return sum;
}

// --- helpers ---

/** Steps of a search at worst, one text times the other: a second. */
const MOST_STEPS = 2 ** 32;
/** Characters of what is made of a list, and of what is made of two operands at worst: 256 MiB. */
const MOST_MADE = 2 ** 24;
const MOST_TOGETHER = 2 ** 28;
/** What a block holds is no expression: it is as long as a text may be. */
const BLOCK = 'block';
const MOST_OF_BLOCK = 1_000_000;

/** By sizes of the operands, in their order, and their lengths where they are texts; absent where they are not evaluated yet. */
type Rule = (sizes: readonly number[], texts: readonly number[]) => void;

const searched: Rule = (_, [text = 0, part = 0]) => bound(text * part, MOST_STEPS);
/** The first is a list, or a text that is gone through; any argument may stand between all that it has. */
const made: Rule = ([size = 1, ...more]) => {
  bound(size, MOST_MADE);
  bound(size * Math.max(1, ...more.filter((each) => each !== undefined)), MOST_TOGETHER);
};
const replaced: Rule = (sizes, [text = 0, part = 0, by = 0]) => {
  searched(sizes, [text, part]);
  bound((text / Math.max(1, part)) * by, MOST_TOGETHER);
};

const RULES = {
  in: searched,
  split: searched,
  rsplit: searched,
  replace: replaced,
  join: made,
  string: made,
  tojson: made,
  indent: made,
} as const satisfies Readonly<Record<string, Rule>>;

function bound(value: number, most: number): void {
  if (value > most) throw new Error('it puts too long texts together in one operation');
}

const operands = new WeakMap<object, Operands | undefined>();

function operationOf(statement: Node): Operands | undefined {
  switch (statement.type) {
    case 'BinaryExpression':
      return /^(not )?in$/.test(String(statement.operator?.value))
        ? { name: 'in', nodes: [statement.right, statement.left] }
        : undefined;
    case 'FilterExpression':
      return appliedTo(statement.operand, statement.filter);
    case 'FilterStatement':
      return appliedTo(BLOCK, statement.filter);
    case 'CallExpression':
      return statement.callee?.type === 'MemberExpression'
        ? appliedTo(statement.callee.object, {
            value: statement.callee.property?.value,
            args: statement.args ?? [],
          })
        : undefined;
    default:
      return undefined;
  }
}

/** A filter is a name, or a call of one; a method is told in the same way. */
function appliedTo(of: unknown, how: Node | undefined): Operands | undefined {
  const name = how?.callee?.value ?? how?.value;
  if (typeof name !== 'string' || !Object.hasOwn(RULES, name)) return undefined;
  const args = (how?.args ?? []).map((each) =>
    each.type === 'KeywordArgumentExpression' ? each.value : each,
  );
  return { name: name as keyof typeof RULES, nodes: [of, ...args] };
}
