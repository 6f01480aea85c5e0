// The last results by their key, the oldest dropped first. Properties of one op render and encode the same conversations.

export function recent<Value>(most: number): Pick<Map<string, Value>, 'get' | 'set'> {
  const kept = new Map<string, Value>();
  return {
    get: (key) => kept.get(key),
    set(key, value) {
      if (kept.size >= most) for (const oldest of [...kept.keys()].slice(0, 1)) kept.delete(oldest);
      return kept.set(key, value);
    },
  };
}
