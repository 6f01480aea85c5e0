// The reader of a file of each kind that is read in pieces; Parquet is read by parquet.ts.
import type { LogSink } from '../series.ts';
import { csvReader } from './csv.ts';
import type { Detected } from './files/detect.ts';
import { documentReader, type Pushed } from './json/document.ts';
import { jsonLinesReader } from './json/json-lines.ts';
import type { Complain, Reader } from './reader.ts';
import { eventReader } from './tensorboard/event.ts';
import { wandbReader } from './wandb/wandb.ts';

export interface ReaderOptions {
  /** As sentences and samples name it. */
  readonly path: string;
  readonly run: string;
  /** Of the run, for documents. */
  readonly pushed: Pushed;
  /** Nobody writes the file any more. */
  readonly finished: boolean;
}

export function readerOf(
  { kind, delimiter = ',' }: Detected,
  options: ReaderOptions,
  sink: LogSink,
  complain: Complain,
): Reader {
  const { run, finished } = options;
  switch (kind) {
    case 'TensorBoard':
      return eventReader(run, sink, complain);
    case 'W&B':
      return wandbReader(options, sink, complain);
    case 'trainer_state.json':
    case 'JSON list':
      return documentReader(options, sink, complain);
    case 'CSV':
      return csvReader({ run, delimiter, finished }, sink, complain);
    default:
      return jsonLinesReader(options, sink, complain);
  }
}
