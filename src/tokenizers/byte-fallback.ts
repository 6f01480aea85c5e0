// Decoding of byte tokens (<0xE2>) as the Rust library does it, for both JavaScript backends: their own way drops
// a leading U+FEFF and repairs half a character differently, so ids and text would disagree with the trainer's.

interface Decoder {
  readonly config?: { readonly type?: string };
  readonly decoders?: readonly unknown[];
}

/** Replaces the ByteFallback step of a library's decoder, wherever it stands in a sequence. */
export function repairByteFallback(decoder: unknown): void {
  // Decoders are callable objects, so they may be functions as well.
  if (decoder === null || (typeof decoder !== 'object' && typeof decoder !== 'function')) return;
  const { config, decoders } = decoder as Decoder;
  if (config?.type === 'ByteFallback') Object.assign(decoder, { decode_chain: joinByteTokens });
  for (const step of decoders ?? []) repairByteFallback(step);
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Runs of byte tokens become text; a run that is not whole UTF-8 becomes one U+FFFD a byte. */
export function joinByteTokens(tokens: readonly string[]): string[] {
  const texts: string[] = [];
  let bytes: number[] = [];
  const flush = (): void => {
    if (bytes.length === 0) return;
    try {
      texts.push(STRICT.decode(Uint8Array.from(bytes)));
    } catch {
      texts.push('\ufffd'.repeat(bytes.length));
    }
    bytes = [];
  };
  for (const token of tokens) {
    const byte = byteOfToken(token);
    if (byte === undefined) {
      flush();
      texts.push(token);
    } else bytes.push(byte);
  }
  flush();
  return texts;
}

/** 0xE2 of "<0xE2>"; undefined for any other token. */
export function byteOfToken(token: string): number | undefined {
  return /^<0x[0-9A-Fa-f]{2}>$/.test(token) ? Number.parseInt(token.slice(3, 5), 16) : undefined;
}
