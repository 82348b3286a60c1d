import { type Document, isMap, isSeq, parseDocument } from 'yaml';
import { AppError } from '#base/errors.ts';
import type { KubeletArguments } from '#cluster/facts.ts';
import { file } from '#contract/paths.ts';
import { workerFile } from '#contract/worker-files.ts';

/** Files of the Linux workers as Windows nodes need them: Windows path to content. */
export function filesForWindows(
  kubeletArguments: KubeletArguments,
  workerFiles: Readonly<Record<string, string>>,
): Record<string, string> {
  const cloudConfig = Object.hasOwn(kubeletArguments, 'cloud-config') ? workerFiles[workerFile.cloudConfig] : undefined;
  const providers = workerFiles[workerFile.credentialProviders];
  return {
    ...(cloudConfig !== undefined && { [file.cloudConfig]: cloudConfig }),
    ...(providers !== undefined && { [file.credentialProviderConfig]: renameCredentialProviders(providers) }),
  };
}

/** A CredentialProviderConfig whose providers are programs on Windows: `.exe` ends every name. Nothing else changes. */
export function renameCredentialProviders(config: string): string {
  return printed(renamed(parsed(config)));
}

function renamed(document: Document): Document {
  if (!isMap(document.contents)) throw malformed('is no mapping');
  const providers = document.contents.get('providers') ?? undefined;
  if (providers !== undefined && !isSeq(providers)) throw malformed('has providers that are no list');
  (providers?.items ?? []).forEach((provider, index) => {
    const name = isMap(provider) ? provider.get('name') : undefined;
    if (!isMap(provider) || typeof name !== 'string' || name === '') {
      throw malformed(`has no name in providers[${index}]`);
    }
    if (!/\.exe$/i.test(name)) provider.set('name', `${name}.exe`);
  });
  return document;
}

function parsed(config: string): Document {
  const document = orMalformed(() => parseDocument(config, { prettyErrors: false, logLevel: 'error' }));
  const [error] = document.errors;
  if (error !== undefined) throw malformed(`is no YAML: ${error.code} at character ${error.pos[0]}`);
  return document;
}

function printed(document: Document): string {
  return orMalformed(() => document.toString({ lineWidth: 0 }));
}

/** The YAML library throws on what it cannot follow, such as an alias to nothing or nesting without end. */
function orMalformed<T>(run: () => T): T {
  try {
    return run();
  } catch {
    throw malformed('is YAML that cannot be followed');
  }
}

function malformed(what: string): AppError {
  return new AppError('IGNITION_MALFORMED', `worker file ${workerFile.credentialProviders} ${what}`, {
    remedy: 'The MachineConfig with this file must hold a CredentialProviderConfig in YAML.',
  });
}
