import { activate, activation } from './activate.ts';
import { authorizeKey } from './authorize-key.ts';
import { bootstrap } from './bootstrap.ts';
import { cleanup } from './cleanup.ts';
import { controller } from './controller.ts';
import { enableContainers, reboot, rename } from './host-changes.ts';
import { install } from './install.ts';
import { inventory } from './inventory.ts';
import { removeFiles, removeNetworks } from './removal.ts';
import { secure } from './secure.ts';
import { stage } from './stage.ts';
import type { Verb } from './verb.ts';
import { version } from './version.ts';

/** In the order of the help text. */
export const verbs: readonly Verb[] = [
  bootstrap,
  controller,
  cleanup,
  removeNetworks,
  removeFiles,
  inventory,
  secure,
  stage,
  activate,
  activation,
  install,
  rename,
  authorizeKey,
  enableContainers,
  reboot,
  version,
];
