import { attempt } from '#base/errors.ts';
import { namespaceName, secretKey, secretName } from '#contract/names.ts';
import { dir } from '#contract/paths.ts';
import { redactHostsToml } from '#node/desired/registries/hosts-toml.ts';
import { registryFiles } from '#node/desired/registries/registries.ts';
import type { Command } from '../command.ts';
import { findSecretData, ofKind } from '../find.ts';
import { fileTexts } from './file-texts.ts';

export const mirrorKinds = ['ImageDigestMirrorSet', 'ImageTagMirrorSet'] as const;

export const renderRegistries: Command = {
  name: 'registries',
  summary: 'the hosts.toml files that containerd reads for mirrored registries',
  example: 'wmco render registries -f examples/mirrors.yaml -f examples/secrets.yaml',
  reads:
    'ImageDigestMirrorSets, ImageTagMirrorSets, and Secret openshift-config/pull-secret for credentials of mirrors',
  options: ['showSecrets'],
  run({ objects }, options) {
    const secret = attempt(() => findSecretData(objects, secretName.pullSecret, namespaceName.config));
    const pullSecret = secret.ok ? secret.value[secretKey.dockerConfig] : undefined;
    const { files, warnings } = registryFiles(ofKind(objects, ...mirrorKinds), pullSecret);
    const visible = Object.entries(files).map(([path, content]) => ({
      path: `${dir.registries}\\${path}`,
      content: options['showSecrets'] === true ? content : redactHostsToml(content),
    }));
    return { shown: fileTexts(visible), findings: warnings };
  },
};
