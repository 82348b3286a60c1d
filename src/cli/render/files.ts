import { type AppError, attempt } from '#base/errors.ts';
import { redacted, Secret } from '#base/secret.ts';
import type { ServiceAccountToken } from '#cluster/facts.ts';
import { openshiftFacts } from '#cluster/openshift.ts';
import type { KubeObject } from '#contract/object.ts';
import { namespaceName, secretKey, secretName } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { secretMember } from '#contract/secret-data.ts';
import { type NodeFilesInput, nodeFiles } from '#node/desired/files.ts';
import { serviceAccountToken } from '#node/desired/kubeconfig.ts';
import { registryFiles } from '#node/desired/registries/registries.ts';
import type { Command } from '../command.ts';
import { findSecret, missingObject, ofKind } from '../find.ts';
import { pullSecretFrom, pullSecretName } from '../pull-secret.ts';
import { settingsFrom } from '../settings.ts';
import { fileTexts } from './file-texts.ts';
import { kubeletSettings } from './kubelet-settings.ts';
import { mirrorKinds } from './registries.ts';

export const renderFiles: Command = {
  name: 'files',
  summary: 'print every file that the operator writes on a Windows node',
  example: 'wmco render files -f examples',
  reads:
    'the objects of `render services` and `render registries`, and the Secrets with tokens and the exporter certificate',
  options: ['operatorVersion', 'namespace', 'env', 'showSecrets'],
  run({ objects }, options) {
    const settings = settingsFrom(options);
    const { facts, findings } = openshiftFacts(objects, settings);
    if (facts === undefined) return { output: fileTexts([]), findings };
    const parts = secretParts(objects, settings.namespace);
    const { files } = nodeFiles({ facts, ...parts.input });
    const visible = files
      .filter(({ path }) => !parts.hidden.includes(path))
      .map(({ path, content, sensitive }) => ({
        path,
        content: sensitive && options['showSecrets'] !== true ? redacted : content.reveal(),
      }));
    return { output: fileTexts(visible), findings: [...findings, ...parts.findings] };
  },
};

interface SecretParts {
  input: Omit<NodeFilesInput, 'facts'>;
  findings: AppError[];
  /** Files that cannot be shown because their Secret is not in the input. */
  hidden: string[];
}

/** Dumps often lack Secrets; files that do not depend on them are still rendered. */
function secretParts(objects: readonly KubeObject[], namespace: string): SecretParts {
  const findings: AppError[] = [];
  const hidden: string[] = [];
  const orElse = <T>(read: () => T, without: T, paths: readonly string[]): T => {
    const result = attempt(read);
    if (result.ok) return result.value;
    findings.push(result.error);
    hidden.push(...paths);
    return without;
  };
  const token = (name: string, where: string) => () => {
    const { data, label } = findSecret(objects, name, where);
    return serviceAccountToken(data, label);
  };
  const noToken: ServiceAccountToken = { ca: '', token: new Secret('') };
  const input = {
    bootstrapToken: orElse(token(secretName.bootstrapToken, namespaceName.machineConfig), noToken, [
      file.bootstrapCa,
      file.bootstrapKubeconfig,
    ]),
    agentToken: orElse(token(secretName.agentToken, namespace), noToken, [file.agentKubeconfig]),
    tls: orElse(() => tlsPair(objects, namespace), noTls, [file.tlsCertificate, file.tlsKey]),
    registries: orElse(() => mirrors(objects, findings), {}, []),
    kubelet: kubeletSettings(objects, findings),
    ...logins(objects),
  };
  return { input, findings, hidden };
}

const noTls = { certificate: '', key: new Secret('') };

function tlsPair(objects: readonly KubeObject[], namespace: string): NodeFilesInput['tls'] {
  const { data, label } = findSecret(objects, secretName.tls, namespace);
  const member = (key: string) => secretMember(data, key, label);
  return { certificate: member(secretKey.tlsCertificate).reveal(), key: member(secretKey.tlsKey) };
}

function logins(objects: readonly KubeObject[]): Pick<NodeFilesInput, 'logins'> {
  const pullSecret = pullSecretFrom(objects);
  return pullSecret === undefined ? {} : { logins: pullSecret };
}

function mirrors(objects: readonly KubeObject[], findings: AppError[]): Record<string, string> {
  const sets = ofKind(objects, ...mirrorKinds);
  const pullSecret = pullSecretFrom(objects);
  // Only mirror sets need the pull secret.
  if (pullSecret === undefined && sets.some(({ kind }) => kind !== 'Image'))
    findings.push(missingObject(pullSecretName));
  const { files, warnings } = registryFiles(sets, pullSecret);
  findings.push(...warnings);
  return files;
}
