/** `run` on every item, so many at a time; results in the items' order, each handed to `done` as it comes. */
export async function inParallel<T, R>(
  items: readonly T[],
  lanes: number,
  run: (item: T) => Promise<R>,
  done: (result: R) => void = () => undefined,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      const result = await run(items[at] as T);
      results[at] = result;
      done(result);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
