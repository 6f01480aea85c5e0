// A few lines at the end of the terminal that are drawn again and again, and what is said above them.
import type { Screen } from './context.ts';

export interface LiveBlock {
  draw(lines: readonly string[]): void;
  /** Lines that stay, above the block. */
  say(lines: readonly string[]): void;
  clear(): void;
}

/** For a terminal; lines must not be wider than it. */
export function liveBlock(screen: Screen): LiveBlock {
  let drawn: readonly string[] = [];
  const erase = (): string => (drawn.length === 0 ? '' : `\u001b[${drawn.length}A\r\u001b[J`);
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
  return {
    draw(lines) {
      screen.write(erase() + text(lines));
      drawn = lines;
    },
    say(lines) {
      screen.write(erase() + text(lines) + text(drawn));
    },
    clear() {
      screen.write(erase());
      drawn = [];
    },
  };
}
