// The whole catalogue against the trainer of lossproof.config.json, one test a property.
import { testTrainer } from 'lossproof/vitest';

testTrainer();
