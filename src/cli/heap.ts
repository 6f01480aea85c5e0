// A larger young generation. Cases live for a millisecond each, and thousands are in flight: with V8's default of
// 16 MB many are moved to the old generation before they are done, and a third of a run is spent collecting them
// (`npm run bench` shows the difference). Imported first, for its effect, before the heap has grown.
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--max-semi-space-size=64');
setFlagsFromString('--min-semi-space-size=64');
