// Settings of a run as TensorBoard's hparams plugin writes them: a SummaryMetadata whose plugin data hold the message.
// Fields as in tensorboard/plugins/hparams/plugin_data.proto.
import type { LogSink } from '../../series.ts';
import { BYTES, type Cursor, eachField, FIXED64, varint } from '../wire.ts';

// SummaryMetadata, SummaryMetadata.PluginData, HParamsPluginData, SessionStartInfo, and an entry of a map
const PLUGIN_DATA = 1;
const CONTENT = 2;
const SESSION_START = 3;
const HPARAMS = 1;
const KEY = 1;
const VALUE = 2;
// google.protobuf.Value
const NUMBER = 2;
const STRING = 3;
const BOOL = 4;

/** Declares what stands in the metadata bytes[on.at, end). What is no such message declares nothing. */
export function declareHparams(sink: LogSink, run: string, on: Cursor, end: number): void {
  each(on, end, PLUGIN_DATA, (data) =>
    each(on, data, CONTENT, (content) =>
      each(on, content, SESSION_START, (start) =>
        each(on, start, HPARAMS, (entry) => declareEntry(sink, run, on, entry)),
      ),
    ),
  );
}

/** Calls with the end of each field `wanted` of the message, the cursor at its beginning. */
function each(on: Cursor, end: number, wanted: number, visit: (end: number) => void): void {
  eachField(on, end, (field, type, from, to) => {
    if (field !== wanted || type !== BYTES) return;
    on.at = from;
    visit(to);
  });
}

function declareEntry(sink: LogSink, run: string, on: Cursor, end: number): void {
  let name = '';
  let value: string | number | boolean | null = null;
  const whole = eachField(on, end, (field, type, from, to) => {
    if (type !== BYTES) return;
    if (field === KEY) name = utf8.decode(on.bytes.subarray(from, to));
    if (field !== VALUE) return;
    on.at = from;
    eachField(on, to, (kind, wire, at, until) => {
      on.at = at;
      if (kind === NUMBER && wire === FIXED64) value = on.view.getFloat64(at, true);
      else if (kind === STRING && wire === BYTES) value = utf8.decode(on.bytes.subarray(at, until));
      else if (kind === BOOL) value = varint(on, until) !== 0;
    });
  });
  if (whole && name !== '') sink.declare(run, name, value);
}

const utf8 = new TextDecoder();
