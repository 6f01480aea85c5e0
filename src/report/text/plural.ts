// Counts in words.

/** `1 row`, `100,000 characters`, `2 properties`. */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : many}`;
}
