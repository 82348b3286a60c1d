import { limitMemory } from '../../src/operator/memory.ts';

// As in the operator, before its modules are loaded.
limitMemory();
