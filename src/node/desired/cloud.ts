import { type Document, isMap, isSeq, parseDocument } from 'yaml';
import { AppError } from '#base/errors.ts';
import type { KubeletArguments } from '#cluster/facts.ts';
import { file } from '#contract/paths.ts';
import { workerFile } from '#contract/worker-files.ts';
import { acceptsCloudConfig } from './kubelet-versions.ts';

/** Files of the Linux workers that Windows nodes need, by Windows path. */
export function filesForWindows(
  kubeletArguments: KubeletArguments,
  workerFiles: Readonly<Record<string, string>>,
  kubeletVersion?: string,
): Record<string, string> {
  const isRead = Object.hasOwn(kubeletArguments, 'cloud-config') && acceptsCloudConfig(kubeletVersion);
  const cloudConfig = isRead ? workerFiles[workerFile.cloudConfig] : undefined;
  const providers = workerFiles[workerFile.credentialProviders];
  return {
    ...(cloudConfig !== undefined && { [file.cloudConfig]: cloudConfig }),
    ...(providers !== undefined && { [file.credentialProviderConfig]: renameCredentialProviders(providers) }),
  };
}

/** Appends `.exe` to the provider names of a CredentialProviderConfig, and changes nothing else. */
export function renameCredentialProviders(config: string): string {
  return printYaml(renameProviders(parseYaml(config)));
}

function renameProviders(document: Document): Document {
  if (!isMap(document.contents)) throw malformed('is not a mapping');
  const providers = document.contents.get('providers') ?? undefined;
  if (providers !== undefined && !isSeq(providers)) throw malformed('has providers that are not a list');
  (providers?.items ?? []).forEach((provider, index) => {
    const name = isMap(provider) ? provider.get('name') : undefined;
    if (!isMap(provider) || typeof name !== 'string' || name === '') {
      throw malformed(`has no name in providers[${index}]`);
    }
    if (!/\.exe$/i.test(name)) provider.set('name', `${name}.exe`);
  });
  return document;
}

function parseYaml(config: string): Document {
  const document = orMalformed(() => parseDocument(config, { prettyErrors: false, logLevel: 'error' }));
  const [error] = document.errors;
  if (error !== undefined) throw malformed(`is not YAML: ${error.code} at character ${error.pos[0]}`);
  return document;
}

function printYaml(document: Document): string {
  return orMalformed(() => document.toString({ lineWidth: 0 }));
}

/** The YAML library throws for input such as an unresolved alias or endless nesting. */
function orMalformed<T>(run: () => T): T {
  try {
    return run();
  } catch {
    throw malformed('is YAML with unresolved aliases or endless nesting');
  }
}

function malformed(what: string): AppError {
  return new AppError('IGNITION_MALFORMED', `worker file ${workerFile.credentialProviders} ${what}`, {
    remedy: 'Fix the MachineConfig with this file: it must contain a CredentialProviderConfig in YAML.',
  });
}
