import { isDeepStrictEqual } from 'node:util';
import { bootstrap } from '../../../src/agent/bootstrap.ts';
import { type Certificate, parseBundle, printBundle } from '../../../src/agent/certificates/bundle.ts';
import { applySettings, observeCertificates, readBundle } from '../../../src/agent/host-settings.ts';
import { planEnvironment } from '../../../src/agent/environment/plan.ts';
import { reconcileHost } from '../../../src/agent/reconcile/reconcile-host.ts';
import { resolveNodeVariables } from '../../../src/agent/services/expand.ts';
import { printPem } from '../../../src/base/pem.ts';
import { nodeAnnotation } from '../../../src/contract/names.ts';
import { file } from '../../../src/contract/paths.ts';
import { ModelHost } from '../../kit/model-host.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  resolveNodeVariables: (input: Input) => {
    const node = input.node?.metadata.name === input.nodeName ? input.node : undefined;
    const variables = (input.variables ?? []).map((item: Input) => ({
      name: item.name,
      jsonPath: item.nodeObjectJsonPath,
    }));
    return { values: resolveNodeVariables(node, variables) };
  },
  reconcileService: async (input: Input) => {
    const { existing, wanted } = input;
    const host = hostWith(!existing ? {} : { [existing.name]: { ...existing.config, state: existing.state } });
    host.scriptOutputs = input.powershell ?? {};
    host.node = { name: input.nodeName, annotations: { [nodeAnnotation.desiredVersion]: 'v' }, ready: true };
    host.configMaps = [configMap({ name: 'windows-services-v', services: [wanted] })];
    await pass(host);
    const [service] = await host.services.list();
    return { config: rowConfig(service?.config), state: rowState(service?.state) };
  },
  bootstrap: async (input: Input) => {
    const host = hostWith(input.existingServices ?? {});
    host.configMaps = [configMap(input.configMap)];
    await bootstrap({ version: input.desiredVersion, node: host.state.hostName }, host, host.waiting());
    return { runningServices: await running(host) };
  },
  reconcile: async (input: Input) => {
    const host = hostWith(input.existingServices ?? {});
    host.node = input.node === null ? undefined : { ...input.node, annotations: { ...input.node.annotations } };
    host.configMaps = [configMap(input.configMap)];
    host.state.variables = { ...input.systemEnvironment };
    host.state.variablesAtBoot = { ...input.processEnvironment };
    const before = structuredClone(host.node);
    await pass(host, input.caBundlePath ?? '');
    const { version, rebootRequired } = host.report;
    return {
      runningServices: await running(host),
      report: { version, rebootRequired },
      nodeUnchanged: isDeepStrictEqual(host.node, before),
      systemEnvironmentAfter: host.state.variables,
    };
  },
  environmentVariables: (input: Input) => {
    const { registry, wanted, watched } = input;
    const plan = planEnvironment({ registry, wanted: wanted ?? {}, watched: watched ?? [], owned: input.owned });
    const after = new Map<string, string>(Object.entries(registry));
    for (const { name, value } of [...plan.writes, ...plan.restores]) after.set(name, value);
    for (const name of plan.removals) after.delete(name);
    return { registryAfter: Object.fromEntries(after), changed: plan.changed };
  },
  trustedCertificates: async (input: Input) => {
    const host = new ModelHost();
    host.addRoots(...input.rootStore.map(certificateDer));
    if (input.importedFile !== null) host.fileTexts.set(file.importedCerts, bundleText(input.importedFile));
    if (input.bundleFile !== null) host.fileTexts.set(file.caBundle, bundleText(input.bundleFile));
    const path = input.bundleFile === null ? '' : file.caBundle;
    const plan = await observeCertificates(await readBundle(path, host.files), host);
    const environment = planEnvironment({ registry: {}, wanted: {}, watched: [], owned: [] });
    await applySettings(environment, plan, host.bootId, host);
    const record = host.fileTexts.get(file.importedCerts);
    return {
      rootStore: host.roots.map(letterOf),
      importedFile: record === undefined ? null : parseBundle(record).map(({ der }) => letterOf(der)),
      changed: plan.changed,
    };
  },
  bundleParsing: (input: Input) => {
    const lines = Array.isArray(input.bundle) ? input.bundle : input.bundle.split('\n');
    const text = lines.map(bundleLine).join('\n');
    return { certificates: parseBundle(text).map(({ der }) => letterOf(der)) };
  },
};

async function pass(host: ModelHost, caBundle = ''): Promise<void> {
  await reconcileHost(host, { caBundle, readyPatience: { everyMs: 1000, limitMs: 5000 } }, host.waiting());
}

function hostWith(services: Record<string, Input>): ModelHost {
  const host = new ModelHost();
  for (const [name, { binaryPath, description, dependencies, state }] of Object.entries(services)) {
    const config = { command: binaryPath, description: description ?? '', dependencies: dependencies ?? [] };
    host.services.install(name, config, state.toLowerCase());
  }
  return host;
}

function configMap(input: Input): ModelHost['configMaps'][number] {
  const data = {
    services: JSON.stringify(input.services),
    files: '[]',
    ...(input.environmentVars && { environmentVars: JSON.stringify(input.environmentVars) }),
    watchedEnvironmentVars: JSON.stringify(input.watchedEnvironmentVars ?? []),
  };
  return { name: input.name, created: '2026-01-01T00:00:00Z', data };
}

async function running(host: ModelHost): Promise<Record<string, string>> {
  const services = await host.services.list();
  const active = services.filter(({ state }) => state === 'running');
  return Object.fromEntries(active.map(({ name, config }) => [name, config.command]));
}

function rowConfig(config: Input): unknown {
  const { command, description, dependencies } = config;
  return { binaryPath: command, description, dependencies: dependencies.length === 0 ? null : dependencies };
}

function rowState(state: string | undefined): string {
  return `${state?.charAt(0).toUpperCase()}${state?.slice(1)}`;
}

/** A minimal certificate around a letter. */
function certificateDer(letter: string): Uint8Array {
  const name = new TextEncoder().encode(letter);
  return Uint8Array.of(0x30, 8 + name.length, 0x30, 2 + name.length, 0x0c, name.length, ...name, 0x30, 0, 0x03, 0);
}

function letterOf(der: Uint8Array): string {
  return new TextDecoder().decode(der.subarray(6, -4));
}

function bundleText(letters: string[]): string {
  const certificates: Certificate[] = letters.map(letter => ({ der: certificateDer(letter), sha256: '' }));
  return printBundle(certificates);
}

/** `CERT A` is a complete block; any other description is a truncated certificate. */
function bundleLine(line: string): string {
  const [, letter] = /^CERT (\w)$/.exec(line) ?? [];
  if (letter !== undefined) return printPem('CERTIFICATE', certificateDer(letter));
  return /^(?!#|-----).*\bCERT\b/.test(line) ? '-----BEGIN CERTIFICATE-----\nMAgwAg' : line;
}
