import { AppError, shown } from '#base/errors.ts';
import type { Environment } from '../../ports.ts';
import { environmentCalls } from './environment-calls.ts';
import { callOnThread } from '../call-on-thread.ts';
import { bind, type Koffi } from '../native.ts';
import type { Registry } from './registry.ts';

export const environmentKey = String.raw`SYSTEM\CurrentControlSet\Control\Session Manager\Environment`;

/** Tells open programs that variables have changed; nothing depends on anybody hearing it. */
export type Announce = () => Promise<void>;

/** Machine variables in the registry, and those that the process was started with. */
export function createEnvironment(
  registry: Registry,
  announce: Announce,
  process: Readonly<Record<string, string | undefined>>,
): Environment {
  return {
    machine: async () => registry.texts(environmentKey),
    async setMachine(name, value) {
      checkName(name);
      checkValue(name, value);
      registry.setText(environmentKey, name, value);
      await announce();
    },
    async removeMachine(name) {
      checkName(name);
      registry.removeValue(environmentKey, name);
      await announce();
    },
    process: () => process,
  };
}

export function openAnnouncement(koffi: Koffi): Announce {
  const { SendMessageTimeoutW } = bind(koffi, environmentCalls);
  const [everyWindow, settingsChanged, skipHungOnes, limitMs] = [0xff_ff, 0x1a, 0x2, 1000];
  return async () => {
    // Every window may take its time, so this is no work for the thread of JavaScript.
    await callOnThread(SendMessageTimeoutW, everyWindow, settingsChanged, 0, 'Environment', skipHungOnes, limitMs, [0]);
  };
}

/** An empty name would be the default value of the key, and NUL would cut the name short without a word. */
function checkName(name: string): void {
  if (name !== '' && !/[=\0]/.test(name)) return;
  throw new AppError('FIELD_INVALID', `${shown(name)} cannot be the name of a machine variable`, {
    remedy: 'Correct the name in the services ConfigMap: it must not be empty and holds neither = nor NUL.',
  });
}

/** The value itself may hold a password, so it is not shown. */
function checkValue(name: string, value: string): void {
  if (!value.includes('\0')) return;
  throw new AppError('FIELD_INVALID', `the value of machine variable ${shown(name)} holds a NUL character`, {
    remedy: 'Correct the value in the services ConfigMap.',
  });
}
