import { enableContainers as enable, rebootHost, renameHost } from '../host-changes.ts';
import { durationMs } from './flags.ts';
import type { Verb } from './verb.ts';

export const reboot: Verb = {
  name: 'reboot',
  summary: 'reboot the host, once: in another boot than the one given nothing happens',
  required: ['boot-id'],
  optional: ['delay'],
  async run(values, world) {
    const delaySeconds = Math.ceil(durationMs(values.delay) / 1000);
    const outcome = await rebootHost(values['boot-id'], delaySeconds, world.host().system);
    const text = outcome.rebooting ? `The host reboots in ${outcome.inSeconds} s.` : `Nothing to do: ${outcome.why}.`;
    return { text, data: outcome };
  },
};

export const rename: Verb = {
  name: 'rename',
  summary: 'give the host another name, from the next boot on',
  required: ['name'],
  optional: [],
  async run(values, world) {
    const outcome = await renameHost(values.name, world.host().system);
    const { changed, rebootNeeded, hostName } = outcome;
    const text = changed
      ? `The host will be ${hostName}${rebootNeeded ? ' after a reboot' : ''}.`
      : `Nothing to do: the host is ${hostName}.`;
    return { text, data: outcome };
  },
};

export const enableContainers: Verb = {
  name: 'enable-containers',
  summary: 'switch on the Windows feature Containers',
  required: [],
  optional: [],
  async run(_values, world) {
    const outcome = await enable(world.host().system, world.signal);
    const { changed, rebootNeeded } = outcome;
    const done = changed ? 'Containers are switched on' : 'Nothing to do: Containers are switched on already';
    return { text: `${done}${rebootNeeded ? '; a reboot is needed' : ''}.`, data: outcome };
  },
};
