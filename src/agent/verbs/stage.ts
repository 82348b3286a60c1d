import { stage as takeBundle } from '../stage/stage.ts';
import type { Verb } from './verb.ts';

export const stage: Verb = {
  name: 'stage',
  summary: 'check an uploaded bundle and place its files',
  required: ['bundle', 'sha256'],
  optional: [],
  changesHost: true,
  async run(values, deps) {
    const outcome = await takeBundle(values.bundle, values.sha256, deps.host().files, deps.signal);
    const { placed, unchanged, removed, bytes } = outcome;
    const text = `Placed ${placed} files (${bytes} bytes), ${unchanged} unchanged, ${removed} removed.`;
    return { text, data: outcome };
  },
};
