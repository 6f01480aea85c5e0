// What one operation of a template may be given: to look for a long text in a long one, to join many items by a long
// separator or to replace each character by a long text takes time that no deadline can end, since V8 does it in one
// step, and memory that is counted only when it is spent. So the operands are looked at before.

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
  readonly argument?: unknown;
  readonly value?: unknown;
  readonly args?: readonly Node[];
}

/** What an operation is given that has several operands, so that their extents count together; undefined for all others. */
export function operandsOf(statement: unknown): ReadonlySet<unknown> | undefined {
  if (typeof statement !== 'object' || statement === null) return undefined;
  const known = operands.get(statement);
  if (known !== undefined) return known.size === 0 ? undefined : known;
  const found = new Set(searched(statement));
  operands.set(statement, found);
  return found.size === 0 ? undefined : found;
}

/** Of an operation that is under way: the two largest of its operands. */
export class Operation {
  private largest: number;
  private second = 1;
  readonly operands: ReadonlySet<unknown>;

  constructor(operands: ReadonlySet<unknown>) {
    this.operands = operands;
    this.largest = operands.has(BLOCK) ? MOST_OF_BLOCK : 1;
  }

  /** Throws where the operation would be too much, before it is begun. */
  take(extent: number): void {
    if (extent > this.largest) {
      this.second = this.largest;
      this.largest = extent;
    } else if (extent > this.second) this.second = extent;
    if (this.largest * this.second > MOST)
      throw new Error(`it puts ${this.largest} and ${this.second} characters together in one operation`);
  }
}

// --- helpers ---

/** Characters of one times those of the other: less than a second, and 256 MiB. */
const MOST = 2 ** 27;
/** What a block holds is no expression: it is as long as a text may be. */
const BLOCK = 'block';
const MOST_OF_BLOCK = 1_000_000;
const operands = new WeakMap<object, ReadonlySet<unknown>>();

function searched(statement: Node): readonly unknown[] {
  switch (statement.type) {
    case 'BinaryExpression':
      return /^(not )?in$/.test(String(statement.operator?.value)) ? [statement.left, statement.right] : [];
    case 'FilterExpression':
      return argumentsOf(statement.filter, statement.operand);
    case 'CallExpression':
      // A method; a macro only hands on what it is given.
      return statement.callee?.type === 'MemberExpression'
        ? argumentsOf(statement, statement.callee.object)
        : [];
    case 'FilterStatement':
      return argumentsOf(statement.filter, BLOCK);
    default:
      return [];
  }
}

/** With what they are applied to; none where nothing comes to it. */
function argumentsOf({ args = [] }: Node = {}, of: unknown): readonly unknown[] {
  if (args.length === 0) return [];
  return [of, ...args.flatMap((each) => [each, each.value, each.argument])];
}
