import type { Command } from '../command.ts';
import { renderCrd } from './crd.ts';
import { renderFiles } from './files.ts';
import { renderKubeletConfig } from './kubelet-config.ts';
import { renderRegistries } from './registries.ts';
import { renderServices } from './services.ts';
import { renderUserData } from './user-data.ts';

export const renders: readonly Command[] = [
  renderServices,
  renderFiles,
  renderRegistries,
  renderUserData,
  renderKubeletConfig,
  renderCrd,
];
