import { enableContainers as enable, rebootHost, renameHost } from '../host-changes.ts';
import { durationMs } from './flags.ts';
import type { Verb } from './verb.ts';

export const reboot: Verb = {
  name: 'reboot',
  summary: 'reboot the host, unless it has rebooted since the given boot ID',
  required: ['boot-id'],
  optional: ['delay'],
  changesHost: true,
  async run(values, deps) {
    const delaySeconds = Math.ceil(durationMs(values.delay) / 1000);
    const outcome = await rebootHost(values['boot-id'], delaySeconds, deps.host());
    const text = outcome.rebooting ? `The host reboots in ${outcome.inSeconds} s.` : `Skipped: ${outcome.why}.`;
    return { text, data: outcome };
  },
};

export const rename: Verb = {
  name: 'rename',
  summary: 'rename the host; takes effect at the next boot',
  required: ['name'],
  optional: [],
  changesHost: true,
  async run(values, deps) {
    const outcome = await renameHost(values.name, deps.host().system);
    const { changed, rebootNeeded, hostName } = outcome;
    const text = changed
      ? `Renamed the host to ${hostName}${rebootNeeded ? '; reboot required' : ''}.`
      : `The host is already named ${hostName}.`;
    return { text, data: outcome };
  },
};

export const enableContainers: Verb = {
  name: 'enable-containers',
  summary: 'enable the Windows feature Containers',
  required: [],
  optional: [],
  changesHost: true,
  async run(_values, deps) {
    const outcome = await enable(deps.host().system, deps.signal);
    const { changed, rebootNeeded } = outcome;
    const done = changed ? 'Enabled the Containers feature' : 'The Containers feature is already enabled';
    return { text: `${done}${rebootNeeded ? '; reboot required' : ''}.`, data: outcome };
  },
};
