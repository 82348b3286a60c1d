import { dir } from '#contract/paths.ts';
import { redactHostsToml } from '#node/desired/registries/hosts-toml.ts';
import { registryFiles } from '#node/desired/registries/registries.ts';
import type { Command } from '../command.ts';
import { ofKind } from '../find.ts';
import { pullSecretFrom } from '../pull-secret.ts';
import { fileTexts } from './file-texts.ts';

export const mirrorKinds = ['ImageDigestMirrorSet', 'ImageTagMirrorSet', 'Image'] as const;

export const renderRegistries: Command = {
  name: 'registries',
  summary: 'print the hosts.toml files of containerd for mirrored registries',
  example: 'wmco render registries -f examples/mirrors.yaml -f examples/secrets.yaml',
  reads:
    'ImageDigestMirrorSets, ImageTagMirrorSets, Image cluster, and Secret openshift-config/pull-secret for credentials of mirrors',
  options: ['showSecrets'],
  run({ objects }, options) {
    const { files, warnings } = registryFiles(ofKind(objects, ...mirrorKinds), pullSecretFrom(objects));
    const visible = Object.entries(files).map(([path, content]) => ({
      path: `${dir.registries}\\${path}`,
      content: options['showSecrets'] === true ? content : redactHostsToml(content),
    }));
    const output = fileTexts(visible);
    const text = visible.length === 0 ? `no usable mirror set in the input: ${dir.registries} is empty` : output.text;
    return { output: { ...output, text }, findings: warnings };
  },
};
