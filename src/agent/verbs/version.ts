import { agentName } from '#contract/names.ts';
import { versionLine } from '#contract/version.ts';
import type { Verb } from './verb.ts';

export const version: Verb = {
  name: 'version',
  summary: 'print the version',
  required: [],
  optional: [],
  run: async (_values, { version, runtime }) => ({
    text: versionLine(agentName, version, runtime),
    data: { version, runtime },
  }),
};
