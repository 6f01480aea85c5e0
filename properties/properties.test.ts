// `npm test`: the catalogue against the trainer of this folder's configuration, the bundled example by default.
import { testTrainer } from './vitest.ts';

// Enough to see that everything stands: `npm run check` asks a hundred.
testTrainer({ bundled: true, cases: 30 });
