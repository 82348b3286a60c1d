import { stage as takeBundle } from '../stage/stage.ts';
import type { Verb } from './verb.ts';

export const stage: Verb = {
  name: 'stage',
  summary: 'check an uploaded bundle and put its files in place',
  required: ['bundle', 'sha256'],
  optional: [],
  async run(values, world) {
    const outcome = await takeBundle(values.bundle, values.sha256, world.host().files, world.signal);
    const { placed, unchanged, removed, bytes } = outcome;
    const text = `Placed ${placed} files (${bytes} bytes), left ${unchanged} as they were, removed ${removed}.`;
    return { text, data: outcome };
  },
};
