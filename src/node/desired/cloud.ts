import { type Document, isMap, isSeq, parseDocument } from 'yaml';
import { AppError } from '#base/errors.ts';
import type { ClusterFacts, KubeletArguments } from '#cluster/facts.ts';
import { file } from '#contract/paths.ts';
import { workerFile } from '#contract/worker-files.ts';
import { acceptsCloudConfig } from './kubelet-versions.ts';

/** Files of the Linux workers that Windows nodes need, by Windows path. */
export function filesForWindows(
  kubeletArguments: KubeletArguments,
  workerFiles: Readonly<Record<string, string>>,
  payload: Partial<ProviderFacts> & Pick<ClusterFacts, 'kubeletVersion'> = {},
): Record<string, string> {
  const optional = optionalProvider({ platform: '', ...payload, workerFiles });
  const isRead = Object.hasOwn(kubeletArguments, 'cloud-config') && acceptsCloudConfig(payload.kubeletVersion);
  const cloudConfig = isRead || optional?.readsCloudConfig === true ? workerFiles[workerFile.cloudConfig] : undefined;
  const source = optional?.config ?? workerFile.credentialProviders;
  const providers = workerFiles[source];
  return {
    ...(cloudConfig !== undefined && { [file.cloudConfig]: cloudConfig }),
    ...(providers !== undefined && { [file.credentialProviderConfig]: renameCredentialProviders(providers, source) }),
  };
}

type ProviderFacts = Pick<ClusterFacts, 'platform' | 'workerFiles' | 'optionalPrograms'>;

interface OptionalProvider {
  program: string;
  /** Its configuration on Linux workers. */
  config: string;
  readsCloudConfig: boolean;
}

/** By platform. */
const optionalProviders: ReadonlyMap<string, OptionalProvider> = new Map([
  [
    'Azure',
    { program: 'acr-credential-provider.exe', config: workerFile.acrCredentialProvider, readsCloudConfig: true },
  ],
  [
    'GCP',
    { program: 'gcr-credential-provider.exe', config: workerFile.gcrCredentialProvider, readsCloudConfig: false },
  ],
]);

/**
 * The program that gets logins for the registry of the cloud. The payload and the workers must have all of its files: a kubelet
 * with the flags for it does not start without them.
 */
export function optionalProvider(
  facts: Partial<ProviderFacts> & Pick<ClusterFacts, 'platform'>,
): OptionalProvider | undefined {
  const { platform, workerFiles = {}, optionalPrograms = [] } = facts;
  const provider = optionalProviders.get(platform);
  if (provider === undefined || !optionalPrograms.includes(provider.program)) return undefined;
  const needed = [provider.config, ...(provider.readsCloudConfig ? [workerFile.cloudConfig] : [])];
  return needed.every(path => Object.hasOwn(workerFiles, path)) ? provider : undefined;
}

/** Appends `.exe` to the provider names of a CredentialProviderConfig, and changes the path of the cloud config in arguments. */
export function renameCredentialProviders(config: string, source: string = workerFile.credentialProviders): string {
  const malformed = malformedConfig(source);
  return printYaml(renameProviders(parseYaml(config, malformed), malformed), malformed);
}

type Malformed = (what: string) => AppError;

function renameProviders(document: Document, malformed: Malformed): Document {
  if (!isMap(document.contents)) throw malformed('is not a mapping');
  const providers = document.contents.get('providers') ?? undefined;
  if (providers !== undefined && !isSeq(providers)) throw malformed('has providers that are not a list');
  (providers?.items ?? []).forEach((provider, index) => {
    const name = isMap(provider) ? provider.get('name') : undefined;
    if (!isMap(provider) || typeof name !== 'string' || name === '') {
      throw malformed(`has no name in providers[${index}]`);
    }
    if (!/\.exe$/i.test(name)) provider.set('name', `${name}.exe`);
    const words = provider.get('args');
    if (!isSeq(words)) return;
    words.items.forEach((_, at) => {
      if (words.get(at) === workerFile.cloudConfig) words.set(at, file.cloudConfig);
    });
  });
  return document;
}

function parseYaml(config: string, malformed: Malformed): Document {
  const document = orMalformed(malformed, () => parseDocument(config, { prettyErrors: false, logLevel: 'error' }));
  const [error] = document.errors;
  if (error !== undefined) throw malformed(`is not YAML: ${error.code} at character ${error.pos[0]}`);
  return document;
}

function printYaml(document: Document, malformed: Malformed): string {
  return orMalformed(malformed, () => document.toString({ lineWidth: 0 }));
}

/** The YAML library throws for input such as an unresolved alias or endless nesting. */
function orMalformed<T>(malformed: Malformed, run: () => T): T {
  try {
    return run();
  } catch {
    throw malformed('is YAML with unresolved aliases or endless nesting');
  }
}

function malformedConfig(path: string): Malformed {
  return what =>
    new AppError('IGNITION_MALFORMED', `worker file ${path} ${what}`, {
      remedy: 'Fix the MachineConfig with this file: it must contain a CredentialProviderConfig in YAML.',
    });
}
