// Rows as kept.ts packs them, read for whoever tells a token or makes a row: `lossproof.unpack(text)`; nothing where the
// browser cannot.
(() => {
  if (typeof DecompressionStream === 'undefined') return;

  lossproof.unpack = async (base64) => {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    // Written, not streamed from a blob: that goes by way of another process.
    const plain = new DecompressionStream('gzip');
    const writer = plain.writable.getWriter();
    const [packed] = await Promise.all([
      new Response(plain.readable).json(),
      writer.write(bytes),
      writer.close(),
    ]);
    return reader(packed);
  };

  const numbers = (text) => (text === '' ? [] : text.split(' ').map(Number));
  const inTwos = (list, size) =>
    Array.from({ length: list.length / size }, (_, at) => list.slice(at * size, (at + 1) * size));

  function reader(packed) {
    const read = new Map();

    /** A row's columns, read when it is first looked at. */
    function rowAt(index) {
      const known = read.get(index);
      if (known !== undefined) return known;
      const row = packed.rows[index];
      const fresh = {
        ...row,
        tokens: numbers(row.tokens),
        told: inTwos(numbers(row.told), 2),
        runs: inTwos(numbers(row.runs), 3),
        marks: new Set(numbers(row.marks)),
      };
      read.set(index, fresh);
      return fresh;
    }

    /** A token's name, and what is told of it. */
    function toldOf(index, column) {
      const { tokens, told } = rowAt(index);
      const [, phrase] = told.find(([end]) => column < end) ?? [];
      const place = tokens[column];
      return {
        name: place === undefined ? 'behind the end of the row' : packed.names[place],
        told: packed.phrases[phrase] ?? '',
      };
    }

    return { packed, rows: packed.rows, rowAt, toldOf };
  }
})();
