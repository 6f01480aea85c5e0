// What a child process is started with. Apart from child.ts, because it is part of the public types: those must not lead
// to types of Node, which a program that imports this package may not have.

export interface ChildOptions {
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}
