// A log that comes through a pipe: JSON lines on standard input, read as they arrive. Its end is the end of the log.
import type { LogSink } from '../series.ts';
import type { LogFile, LogSource } from './files/log.ts';
import { openWindow } from './files/window.ts';
import { jsonLinesReader } from './json/json-lines.ts';
import { complaintsOf, type Reader } from './reader.ts';
import type { PipeStream } from './stream.ts';

/** As sentences and reports name it, the file and its run. */
export const PIPE_NAME = 'standard input';

/** The stream is read only as fast as it is judged: whoever writes faster waits, and little is held. */
export function pipeSource(stream: PipeStream): LogSource {
  const file: LogFile = { path: PIPE_NAME, run: PIPE_NAME, kind: 'JSON lines' };
  const window = openWindow();
  let reader: Reader | undefined;
  /** What has come and is no whole line yet; it begins at place `at` of all that came. */
  let held: Uint8Array = new Uint8Array(0);
  let at = 0;
  let over = false;
  let failed: string | undefined;
  let wake: () => void = () => undefined;

  stream.on('readable', () => wake());
  for (const event of ['end', 'close'] as const)
    stream.on(event, () => {
      over = true;
      wake();
    });
  stream.on('error', (error) => {
    failed ??= error.message;
    over = true;
    wake();
  });

  /** All that is there now. */
  function taken(): boolean {
    const chunks = [held];
    for (;;) {
      const chunk: unknown = stream.read();
      if (chunk === null) break;
      chunks.push(typeof chunk === 'string' ? utf8.encode(chunk) : (chunk as Uint8Array));
    }
    if (chunks.length > 1) held = Buffer.concat(chunks);
    return chunks.length > 1;
  }

  async function poll(sink: LogSink): Promise<boolean> {
    reader ??= jsonLinesReader(
      { path: PIPE_NAME, run: PIPE_NAME },
      sink,
      complaintsOf(PIPE_NAME, (sentence) => sink.complain(sentence)),
    );
    if (stream.destroyed && !over) over = true;
    const moved = !stream.destroyed && taken();
    if (moved) {
      const from = at;
      const fill = (into: Uint8Array, place: number): number => {
        const part = held.subarray(place - from, place - from + into.length);
        into.set(part);
        return part.length;
      };
      at = await window.run(reader, fill, at, () => true);
      held = held.slice(at - from);
    }
    if (failed !== undefined) sink.complain(`${PIPE_NAME}: It cannot be read: ${failed}.`);
    failed = undefined;
    return moved;
  }

  return {
    files: [file],
    passedOver: [],
    async readAll(sink) {
      await poll(sink);
    },
    poll,
    close: () => void stream.destroy(),
    ended: () => over && failed === undefined && (stream.destroyed || stream.readableLength === 0),
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (over || stream.readableLength > 0 || signal.aborted) return resolve();
        const timer = setTimeout(done, milliseconds);
        function done(): void {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          wake = () => undefined;
          resolve();
        }
        signal.addEventListener('abort', done);
        wake = done;
      }),
  };
}

const utf8 = new TextEncoder();
