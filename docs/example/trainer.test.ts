// The whole catalogue against the trainer of lossproof.config.json, one test per property.
import { testTrainer } from 'lossproof/vitest';

testTrainer();
