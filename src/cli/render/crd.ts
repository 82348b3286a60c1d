import { windowsInstanceCrd } from '#contract/windows-instance/crd.ts';
import type { Command } from '../command.ts';
import { yamlText } from '../safe-text.ts';

export const renderCrd: Command = {
  name: 'crd',
  summary: 'print the CustomResourceDefinition of WindowsInstance',
  example: 'wmco render crd -o yaml',
  reads: '',
  options: [],
  run() {
    const data = windowsInstanceCrd();
    const text = yamlText(data);
    return { output: { text, data, files: { 'windowsinstances.yaml': text } }, findings: [] };
  },
};
