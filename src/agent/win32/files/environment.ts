import { AppError, shown } from '#base/errors.ts';
import type { Environment } from '../../ports.ts';
import { bind, callOnThread, type Koffi } from '../native.ts';
import { environmentCalls } from './calls.ts';
import type { Registry } from './registry.ts';

export const environmentKey = String.raw`SYSTEM\CurrentControlSet\Control\Session Manager\Environment`;

/** Notifies open programs that variables have changed; the result does not matter. */
export type Announce = () => Promise<void>;

/** Machine variables in the registry, and the environment of the process. */
export function createEnvironment(
  registry: Registry,
  announce: Announce,
  process: Readonly<Record<string, string | undefined>>,
): Environment {
  return {
    machine: async () => registry.texts(environmentKey),
    async setMachine(name, value) {
      checkVariable(name, value);
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
    // Each window may take a second, so it must not run on the JavaScript thread.
    await callOnThread(SendMessageTimeoutW, everyWindow, settingsChanged, 0, 'Environment', skipHungOnes, limitMs, [0]);
  };
}

/** Throws for a variable that Windows cannot store. */
export function checkVariable(name: string, value: string): void {
  checkName(name);
  checkValue(name, value);
}

/** An empty name would be the default value of the key, and NUL would silently cut the name short. */
function checkName(name: string): void {
  if (name !== '' && !/[=\0]/.test(name)) return;
  throw new AppError('FIELD_INVALID', `${shown(name)} is not a valid name for a variable`, {
    remedy: 'Fix the name in the services ConfigMap: it must not be empty or contain = or NUL.',
  });
}

/** The value itself may hold a password, so it is not shown. */
function checkValue(name: string, value: string): void {
  if (!value.includes('\0')) return;
  throw new AppError('FIELD_INVALID', `the value of variable ${shown(name)} contains a NUL character`, {
    remedy: 'Fix the value in the services ConfigMap.',
  });
}
