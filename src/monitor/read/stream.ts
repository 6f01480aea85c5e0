// A stream of bytes, as far as a reader of a pipe needs one: apart from Node's own types, which programs without them see.

/** What is asked of a stream of Node's. */
export interface PipeStream {
  on(event: 'readable' | 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** What is there now; null: nothing. */
  read(): unknown;
  destroy(): unknown;
  readonly destroyed: boolean;
  readonly readableLength: number;
}
